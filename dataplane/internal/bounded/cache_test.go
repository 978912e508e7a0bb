package bounded

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCacheNeverOutgrowsItsCapacity(t *testing.T) {
	c := New[int, int](160)
	for i := range 10_000 {
		c.Put(i, i)
	}
	require.LessOrEqual(t, c.Len(), 160)
	require.Greater(t, c.Len(), 100)
}

func TestCacheKeepsWhatIsUsed(t *testing.T) {
	c := New[int, string](160)
	c.Put(-1, "hot")
	for i := range 10_000 {
		c.Put(i, "cold")
		_, ok := c.Get(-1)
		require.True(t, ok, "a value in use must not be let go")
	}
}

func TestCacheReportsEvictions(t *testing.T) {
	c := New[int, int](32)
	held := map[int]bool{}
	for i := range 1000 {
		held[i] = true
		if gone, ok := c.Put(i, i); ok {
			require.True(t, held[gone], "what goes must have been there")
			delete(held, gone)
		}
	}
	require.Len(t, held, c.Len())
	c.Each(func(k, _ int) { require.True(t, held[k]) })
}

func TestCacheAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, model := New[int, int](1<<20), map[int]int{}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			k, v := rapid.IntRange(0, 20).Draw(t, "key"), rapid.Int().Draw(t, "value")
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				c.Put(k, v)
				model[k] = v
			case 1:
				_, there := model[k]
				require.Equal(t, there, c.Remove(k))
				delete(model, k)
			case 2:
				c.Update(k, func(old int, ok bool) (int, bool) { return max(old, v), ok })
				if old, ok := model[k]; ok {
					model[k] = max(old, v)
				}
			}
			got, ok := c.Get(k)
			want, there := model[k]
			require.Equal(t, there, ok)
			require.Equal(t, want, got)
			require.Equal(t, len(model), c.Len())
		}
	})
}

func TestCacheIsSafeForConcurrentUse(t *testing.T) {
	c := New[string, int](64)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 2000 {
				k := strconv.Itoa((i * (g + 1)) % 200)
				c.Put(k, i)
				c.Get(k)
				if i%7 == 0 {
					c.Remove(k)
				}
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, c.Len(), 64)
}

func BenchmarkGet(b *testing.B) {
	c := New[string, *int](10_000)
	v := 1
	c.Put("0123456789abcdef", &v)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.Get("0123456789abcdef")
		}
	})
}
