package wire_test

import (
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// The messages are a contract between versions: -new writes a golden file
// that is not there yet, and an existing one is never rewritten.
var fresh = flag.Bool("new", false, "write golden files that do not exist")

func kept(t *testing.T, path string, got []byte) []byte {
	t.Helper()
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) && *fresh {
		require.NoError(t, os.WriteFile(path, got, 0o600))
		return got
	}
	require.NoError(t, err)
	return want
}

var (
	workspace = id.MustParse[id.WorkspaceKind]("ws_01kb7n0z1v8q5r2m3t4w5x6y7z")
	gateway   = id.MustParse[id.GatewayKind]("gw_01kb7n0z1v8q5r2m3t4w5x6y7z")
	request   = id.MustParse[id.RequestKind]("req_01kb7n0z1v8q5r2m3t4w5x6y7z")
	at        = time.Date(2026, 10, 1, 12, 0, 0, 5, time.UTC)
)

func readable[T any](t *testing.T, path string, want T) {
	t.Helper()
	body, err := json.Marshal(want)
	require.NoError(t, err)
	var got T
	require.NoError(t, json.Unmarshal(kept(t, path, body), &got))
	require.Equal(t, want, got)
}

func TestMessagesOfEarlierVersionsStayReadable(t *testing.T) {
	readable(t, "testdata/usage-1.json", wire.UsageEvent{
		Schema: wire.UsageSchema, ID: request, PrimaryID: request, Workspace: workspace,
		Key: id.MustParse[id.KeyKind]("key_01kb7n0z1v8q5r2m3t4w5x6y7z"), User: id.MustParse[id.UserKind]("user_01kb7n0z1v8q5r2m3t4w5x6y7z"),
		Gateway: gateway, Sequence: 7, Surface: catalog.Chat, Purpose: "p", Stream: true, ClientRequestID: "c", SessionID: "s", EndUser: "e",
		StartedAt: at, Duration: 2 * time.Second, FirstByte: time.Second, GatewayDur: time.Millisecond, Outcome: wire.Success, Status: 200,
		Code: "code", Reason: "reason", RequestedModel: "gpt-5", DecidedModel: "openai/gpt-5", ServedModel: "gpt-5-2025", Provider: "openai",
		Endpoint: "openai:openai/gpt-5", Attempts: 2,
		Usage: meter.Usage{Input: 1, CachedRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6, Image: 7, AudioInput: 8, AudioOutput: 9, Estimated: true},
		Cost:  meter.Cost{Lines: []meter.Line{{Meter: "input", Units: 1, Price: 2, Cost: 3}}, Total: 3, Unpriced: true}, Suppressed: true,
		PolicyRevision: 12, CatalogRevision: 3, Decision: json.RawMessage(`{"chain":["openai/gpt-5"]}`),
	})
	readable(t, "testdata/usage-rollout-1.json", wire.UsageEvent{
		Schema: wire.UsageSchema, ID: request, PrimaryID: request, Workspace: workspace, Gateway: gateway, Sequence: 7, Surface: catalog.Chat,
		StartedAt: at, Duration: time.Second, Outcome: wire.Refused, Status: 502, Attempts: 0,
		Rollout: &wire.UsageRollout{
			ID: id.MustParse[id.RolloutKind]("rollout_01kb7n0z1v8q5r2m3t4w5x6y7z"), Candidate: true, Outcome: wire.Failed, Code: "upstream_server_error", Took: 2 * time.Second,
		},
	})
	readable(t, "testdata/heartbeat-1.json", wire.Heartbeat{
		Gateway: gateway, Instance: "i", Version: "v", Address: "a:1", StartedAt: at, SentAt: at, Stopping: true, CatalogRevision: 3,
		Workspaces: map[string]int64{workspace.String(): 12}, KeysHeld: 5, SpoolPending: 6, Stale: true,
	})
	readable(t, "testdata/receipt-1.json", wire.Receipt{Gateway: gateway, Applied: []wire.AppliedEntry{
		{Workspace: workspace, KID: "k", Revision: 12, AppliedAt: at}, {Revision: 3, AppliedAt: at},
	}})
	readable(t, "testdata/cells-epoch-1.json", wire.CellsEpoch{Epoch: "e", ReadyAt: at})
	readable(t, "testdata/marks-1.json", wire.MarkReply{Committed: 9, Error: "e"})
	readable(t, "testdata/check-request-1.json", wire.CheckRequest{
		Workspace: workspace, Provider: "north", Models: []string{"acme/*"}, Sealed: []byte("sealed"),
	})
	readable(t, "testdata/check-reply-1.json", wire.CheckReply{
		Status: wire.CheckValid, HTTPStatus: 200, Call: wire.CheckCompletion, Model: "acme/small", Latency: 5, Trouble: wire.CheckNotOpened,
	})
}

// TestNamesAreTokens: names become subjects and bucket keys, where a dot
// splits, and * and > and spaces have a meaning.
func TestNamesAreTokens(t *testing.T) {
	token := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	for _, name := range []string{
		wire.BucketPolicy, wire.BucketKeys, wire.BucketCatalog, wire.BucketPins, wire.ObjectSnapshots,
		wire.StreamRate, wire.StreamSpend, wire.StreamCells, wire.StreamUsage, wire.ConsumerUsage,
		wire.CatalogPointer, gateway.String(), request.String(),
	} {
		require.Regexp(t, token, name)
	}
	digest := strings.Repeat("0a", 32)
	names := map[string]bool{}
	for _, name := range []string{
		wire.SubjectRate, wire.SubjectSpend, wire.SubjectCells, wire.SubjectUsage, wire.SubjectPushPolicy, wire.SubjectPushKeys,
		wire.SubjectPushCatalog, wire.SubjectHeartbeat, wire.SubjectReceipt, wire.SubjectHealth, wire.SubjectHealthView, wire.SubjectHealthAnswer, wire.SubjectMarks, wire.SubjectCheck, wire.SubjectChecked,
		wire.SubjectCellsEpoch, wire.SubjectCellsMinute, wire.SubjectCellsSlots, wire.SubjectCellsHeld, wire.SubjectCellsProbe,
		wire.PolicyPointer(workspace), wire.PolicyBody(workspace, digest), wire.CatalogBody(digest),
	} {
		for part := range strings.SplitSeq(name, ".") {
			require.Regexp(t, token, part, name)
		}
		require.False(t, names[name], name)
		names[name] = true
	}
	require.NotEqual(t, wire.PolicyBody(workspace, digest), wire.PolicyBody(workspace, strings.Repeat("0b", 32)))
}

func TestPositionCovers(t *testing.T) {
	p := wire.Position{Stream: 1, Sequence: 5}
	require.True(t, p.Covers(wire.Position{Stream: 1, Sequence: 5}))
	require.False(t, p.Covers(wire.Position{Stream: 1, Sequence: 6}))
	require.False(t, p.Covers(wire.Position{Stream: 2, Sequence: 1}), "a stream that was made anew starts over")
}

func TestAGatewayIsGoneOnlyAfterSeveralMissedBeats(t *testing.T) {
	require.Greater(t, wire.GatewayGoneAfter, 3*wire.HeartbeatEvery)
}

func FuzzUsageEvent(f *testing.F) {
	body, err := os.ReadFile("testdata/usage-1.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		var e wire.UsageEvent
		if json.Unmarshal(body, &e) != nil {
			return
		}
		again, err := json.Marshal(e)
		require.NoError(t, err)
		var back wire.UsageEvent
		require.NoError(t, json.Unmarshal(again, &back))
		require.Equal(t, e.ID, back.ID)
		require.Equal(t, e.Usage, back.Usage)
	})
}
