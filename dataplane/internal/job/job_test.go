package job_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/job"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

var (
	ours   = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000001")
	theirs = id.MustParse[id.WorkspaceKind]("ws_00000000000000000000000002")
	video  = call.Owned{Endpoint: "north:acme/film@eu", ID: "video_68a1"}
)

func names(t *testing.T) *job.Names {
	t.Helper()
	ring, err := seal.New()
	require.NoError(t, err)
	identifiers, err := ring.Identifiers()
	require.NoError(t, err)
	return job.NewNames(identifiers, nil, nil)
}

func TestANameFindsItsThing(t *testing.T) {
	n := names(t)
	for _, s := range []catalog.Surface{catalog.Videos, catalog.Music, catalog.Batches, catalog.Files} {
		require.Nil(t, n.Ready(s))
		name, err := n.Name(ours, s, video)
		require.NoError(t, err)
		require.NotContains(t, name, "68a1")
		again, err := n.Name(ours, s, video)
		require.NoError(t, err)
		require.Equal(t, name, again)
		found, err := n.Find(ours, s, name)
		require.NoError(t, err)
		require.Equal(t, video, found)
	}
}

func TestNobodyElseFindsIt(t *testing.T) {
	n := names(t)
	name, err := n.Name(ours, catalog.Videos, video)
	require.NoError(t, err)
	foreign, err := names(t).Name(ours, catalog.Videos, video)
	require.NoError(t, err)
	for what, find := range map[string]func() (call.Owned, error){
		"another workspace": func() (call.Owned, error) { return n.Find(theirs, catalog.Videos, name) },
		"another surface": func() (call.Owned, error) {
			return n.Find(ours, catalog.Music, "music_"+strings.TrimPrefix(name, "video_"))
		},
		"another keyring":  func() (call.Owned, error) { return n.Find(ours, catalog.Videos, foreign) },
		"an upstream's id": func() (call.Owned, error) { return n.Find(ours, catalog.Videos, video.ID) },
		"no prefix":        func() (call.Owned, error) { return n.Find(ours, catalog.Videos, strings.TrimPrefix(name, "video_")) },
		"nothing":          func() (call.Owned, error) { return n.Find(ours, catalog.Videos, "") },
		"cut":              func() (call.Owned, error) { return n.Find(ours, catalog.Videos, name[:len(name)-1]) },
		"endless":          func() (call.Owned, error) { return n.Find(ours, catalog.Videos, "video_"+strings.Repeat("A", 1<<20)) },
	} {
		_, err := find()
		require.Equal(t, fault.NotFound, fault.Of(err).Code, what)
		require.Equal(t, "There is nothing with this id in your workspace.", fault.Of(err).Message, "%s tells nothing", what)
	}
}

func TestWithoutAKeyringNothingIsMade(t *testing.T) {
	n := job.NewNames(nil, nil, nil)
	require.Equal(t, fault.UpstreamUndetermined, n.Ready(catalog.Videos).Code)
	require.Nil(t, n.Ready(catalog.Chat))
	_, err := n.Name(ours, catalog.Videos, video)
	require.Equal(t, fault.UpstreamUndetermined, fault.Of(err).Code)
	_, err = n.Find(ours, catalog.Videos, "video_x")
	require.Equal(t, fault.UpstreamUndetermined, fault.Of(err).Code)
}
