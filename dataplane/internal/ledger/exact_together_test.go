package ledger

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// slowReads is a store whose reads take a second, of a state that is one later
// each time.
type slowReads struct {
	Store
	reads uint64
}

func (s *slowReads) Read(ctx context.Context, _ string, totals []totalRef) (map[totalRef]wire.Spend, uint64, error) {
	s.reads++
	state := s.reads
	select {
	case <-time.After(time.Second):
		return map[totalRef]wire.Spend{totals[len(totals)-1]: {Requests: int64(state)}}, state, nil
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
}

// Many who ask for one account at the same time cost one read, also when the one
// who reads leaves; another account, or a state that the read does not have, is
// read for itself.
func TestExactIsReadOnceForAllWhoAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowReads{}
		l := &Ledger{opts: Options{Store: store}, epoch: "e"}
		ws, key := id.New[id.WorkspaceKind](ids), id.New[id.KeyKind](ids)
		answers := make(chan uint64, 200)
		ask := func(ctx context.Context, account wire.Account, after uint64) {
			_, at, err := l.Exact(ctx, ws, account, monday, Point{Stream: after})
			if err == nil {
				answers <- at.Stream
			}
		}
		first, leave := context.WithCancel(t.Context())
		go ask(first, wire.KeyAccount(key), 0)
		synctest.Wait()
		for range 100 {
			go ask(t.Context(), wire.KeyAccount(key), 0)
		}
		synctest.Wait()
		require.EqualValues(t, 1, store.reads)
		leave()
		synctest.Wait()
		require.EqualValues(t, 2, store.reads, "one of the others reads for all")
		go ask(t.Context(), wire.AccountWorkspace, 0)
		go ask(t.Context(), wire.KeyAccount(key), 3)
		<-time.After(3 * time.Second)
		synctest.Wait()
		seen := map[uint64]int{}
		for range len(answers) {
			seen[<-answers]++
		}
		require.Equal(t, map[uint64]int{2: 100, 3: 1, 4: 1}, seen)
	})
}
