package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/natsconn/document"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/testkit/natstest"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, natstest.Leaks()...) }

const kid = "0123456789abcdef"

func open(t *testing.T) (*document.Reader, *document.Writer) {
	c := natstest.New(t).Ready()
	return document.NewReader(c), document.NewWriter(c)
}

func key(revision int64) policy.Key {
	return policy.Key{Schema: policy.Schema, KID: kid, Revision: revision}
}

func revision(t *testing.T, e document.Entry) int64 {
	var d struct {
		Revision int64 `json:"revision"`
	}
	require.NoError(t, json.Unmarshal(e.Data, &d))
	return d.Revision
}

func TestAnOlderKeyDocumentNeverReplacesANewerOne(t *testing.T) {
	read, write := open(t)
	_, err := read.Leader(t.Context(), wire.BucketKeys, kid)
	require.ErrorIs(t, err, document.ErrAbsent)
	_, err = read.Any(t.Context(), wire.BucketKeys, kid)
	require.ErrorIs(t, err, document.ErrAbsent)

	newer, err := write.Key(t.Context(), key(5))
	require.NoError(t, err)
	again, err := write.Key(t.Context(), key(5))
	require.NoError(t, err)
	require.Equal(t, newer, again, "the same document is not written twice")
	var ahead *document.AheadError
	_, err = write.Key(t.Context(), key(4))
	require.ErrorAs(t, err, &ahead, "what is not written is no success")
	require.EqualValues(t, 5, ahead.Revision)
	other := key(5)
	other.Status = policy.KeyRevoked
	_, err = write.Key(t.Context(), other)
	require.ErrorAs(t, err, &ahead, "nor is another document by the same revision")
	require.EqualValues(t, 5, ahead.Revision)
	e, err := read.Leader(t.Context(), wire.BucketKeys, kid)
	require.NoError(t, err)
	require.Equal(t, int64(5), revision(t, e))
}

func TestConcurrentWritersLeaveTheHighestRevision(t *testing.T) {
	read, write := open(t)
	var wg sync.WaitGroup
	for _, r := range rand.Perm(40) {
		wg.Go(func() {
			_, err := write.Key(t.Context(), key(int64(r+1)))
			if _, ahead := errors.AsType[*document.AheadError](err); err != nil && !ahead {
				t.Errorf("write: %v", err)
			}
		})
	}
	wg.Wait()
	e, err := read.Leader(t.Context(), wire.BucketKeys, kid)
	require.NoError(t, err)
	require.Equal(t, int64(40), revision(t, e))
}

func TestBodiesGoWhereTheyFit(t *testing.T) {
	read, write := open(t)
	for name, c := range map[string]struct {
		size int
		want policy.Where
	}{
		"small":    {100, policy.InKV},
		"at limit": {wire.MaxKVBody, policy.InKV},
		"large":    {wire.MaxKVBody + 1, policy.InObject},
	} {
		t.Run(name, func(t *testing.T) {
			body := bytes.Repeat([]byte("x"), c.size)
			body = append(body[:len(body)-len(name)], name...)
			digest := policy.Digest(body)
			for range 2 { // write-once: the second time changes nothing
				where, err := write.Body(t.Context(), wire.BucketPolicy, "body."+digest, body)
				require.NoError(t, err)
				require.Equal(t, c.want, where)
			}
			got, err := read.Body(t.Context(), wire.BucketPolicy, policy.Pointer{Where: c.want, Name: "body." + digest})
			require.NoError(t, err)
			require.Equal(t, digest, policy.Digest(got))
			_, err = read.Body(t.Context(), wire.BucketPolicy, policy.Pointer{Where: c.want, Name: "body.none"})
			require.ErrorIs(t, err, document.ErrAbsent)
		})
	}
}

func TestAPointerNeverGoesBack(t *testing.T) {
	_, write := open(t)
	at := func(revision int64) policy.Pointer {
		return policy.Pointer{Schema: 1, Revision: revision, Digest: strconv.FormatInt(revision, 10)}
	}
	there, err := write.Pointer(t.Context(), wire.BucketPolicy, "ws.x", at(5))
	require.NoError(t, err)
	again, err := write.Pointer(t.Context(), wire.BucketPolicy, "ws.x", at(5))
	require.NoError(t, err)
	require.Equal(t, there, again)
	var ahead *document.AheadError
	_, err = write.Pointer(t.Context(), wire.BucketPolicy, "ws.x", at(4))
	require.ErrorAs(t, err, &ahead, "what is not written is no success")
	require.EqualValues(t, 5, ahead.Revision)
}

func TestOldBodiesArePruned(t *testing.T) {
	read, write := open(t)
	name := func(r int) string { return "body.ws." + strconv.Itoa(r) }
	size := func(r int) int { return 10 + (r%2)*wire.MaxKVBody } // both stores in turn
	var pointers []policy.Pointer
	for r := 1; r <= 8; r++ {
		body := bytes.Repeat([]byte{byte('a' + r)}, size(r))
		where, err := write.Body(t.Context(), wire.BucketPolicy, name(r), body)
		require.NoError(t, err)
		p := policy.Pointer{Schema: 1, Revision: int64(r), Digest: policy.Digest(body), Where: where, Name: name(r)}
		pointers = append(pointers, p)
		_, err = write.Pointer(t.Context(), wire.BucketPolicy, "ws.x", p)
		require.NoError(t, err)
	}
	for i, p := range pointers {
		_, err := read.Body(t.Context(), wire.BucketPolicy, p)
		if i < len(pointers)-1-document.KeptBodies {
			require.ErrorIs(t, err, document.ErrAbsent, "body %d must be gone", i)
		} else {
			require.NoError(t, err, "body %d must be kept", i)
		}
	}
}

func TestSinceFollowsInOrderAndAcrossBatches(t *testing.T) {
	read, write := open(t)
	const n = 2500
	for i := range n {
		require.NoError(t, write.Mark(t.Context(), wire.BucketKeys, "k"+strconv.Itoa(i), []byte("1")))
	}
	var seen []document.Entry
	collect := func(e document.Entry) error { seen = append(seen, e); return nil }
	require.NoError(t, read.Since(t.Context(), wire.BucketKeys, document.KeyFilter, 0, collect))
	require.Len(t, seen, n)
	for i := range seen {
		require.Equal(t, "k"+strconv.Itoa(i), seen[i].Key)
	}
	middle := seen[n/2].Sequence
	seen = nil
	require.NoError(t, read.Since(t.Context(), wire.BucketKeys, document.KeyFilter, middle, collect))
	require.Len(t, seen, n-n/2-1)

	state, err := read.State(t.Context(), wire.BucketKeys)
	require.NoError(t, err)
	require.EqualValues(t, n, state.Documents)
	seen = nil
	require.NoError(t, read.Since(t.Context(), wire.BucketKeys, document.KeyFilter, state.End.Sequence, collect))
	require.Empty(t, seen)
}

func TestRemoveLeavesWhatChangedMeanwhile(t *testing.T) {
	read, write := open(t)
	old, err := write.Key(t.Context(), key(1))
	require.NoError(t, err)
	_, err = write.Key(t.Context(), key(2))
	require.NoError(t, err)
	require.NoError(t, write.Remove(t.Context(), wire.BucketKeys, kid, old))
	e, err := read.Leader(t.Context(), wire.BucketKeys, kid)
	require.NoError(t, err)
	require.NoError(t, write.Remove(t.Context(), wire.BucketKeys, kid, e.Sequence))
	_, err = read.Leader(t.Context(), wire.BucketKeys, kid)
	require.ErrorIs(t, err, document.ErrAbsent)
	_, err = write.Key(t.Context(), key(3))
	require.NoError(t, err, "a removed document can come back")
}

func TestEveryChangeIsPushedOnceItIsStored(t *testing.T) {
	c := natstest.New(t).Ready()
	write := document.NewWriter(c)
	pushes := make(chan document.Entry, 16)
	for _, prefix := range []string{wire.SubjectPushKeys, wire.SubjectPushPolicy, wire.SubjectPushCatalog} {
		_, err := c.NATS().Subscribe(prefix+".>", func(m *nats.Msg) {
			if e, err := document.Pushed(m, prefix); err == nil {
				pushes <- e
			}
		})
		require.NoError(t, err)
	}
	require.NoError(t, c.NATS().Flush())
	ws := id.New[id.WorkspaceKind](id.SystemSource())
	next := func() document.Entry {
		select {
		case e := <-pushes:
			return e
		case <-time.After(10 * time.Second):
			t.Fatal("no push came")
			return document.Entry{}
		}
	}
	seq, err := write.Key(t.Context(), key(1))
	require.NoError(t, err)
	e := next()
	require.Equal(t, kid, e.Key)
	require.Equal(t, seq, e.Sequence)
	_, err = write.Body(t.Context(), wire.BucketPolicy, wire.PolicyBody(ws, "d"), []byte("body"))
	require.NoError(t, err)
	_, err = write.Pointer(t.Context(), wire.BucketPolicy, wire.PolicyPointer(ws), policy.Pointer{Schema: 1, Revision: 1})
	require.NoError(t, err)
	require.Equal(t, wire.PolicyPointer(ws), next().Key, "bodies must not be pushed")
	_, err = write.Pointer(t.Context(), wire.BucketCatalog, wire.CatalogPointer, policy.Pointer{Schema: 1, Revision: 1})
	require.NoError(t, err)
	require.Equal(t, wire.CatalogPointer, next().Key)
	require.NoError(t, write.Remove(t.Context(), wire.BucketKeys, kid, seq))
	require.True(t, next().Deleted)
}
