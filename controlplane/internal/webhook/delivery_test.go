package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/webhook"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

var at = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func TestSignatureVectors(t *testing.T) {
	one, two := secret.NewString("sb_whsec_0"), secret.NewString("sb_whsec_1")
	// printf '1772600767.{"a":1}' | openssl dgst -sha256 -hmac sb_whsec_0
	const header = "t=1772600767,v1=7262f93b60dc8b4d7437084f8cf971e54e026ce35bf26d1636201436871adf12"
	require.Equal(t, header, webhook.Sign([]byte(`{"a":1}`), at, one))
	require.Equal(t, header+",v1=aa47979bf6853c5b3c6a10df9a3e7fda95bf11ce0a4955f5c69d094d7011b3da", webhook.Sign([]byte(`{"a":1}`), at, one, two))
	require.Equal(t, "t=1772600767,v1=9b01f1627d033c1e1a00079ee9294f0dd5d5a4e71ec5ce320e2c56bd7699eba2", webhook.Sign(nil, at, one))
}

func TestAttemptsFollowEachOther(t *testing.T) {
	due := at
	d := webhook.Delivery{State: webhook.Pending, DueAt: &due}
	now := at
	for i, pause := range []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute} {
		d = d.After(webhook.Attempt{At: now, Status: 500, Trouble: webhook.BadStatus}, now)
		require.Equal(t, webhook.Failed, d.State)
		require.Equal(t, i+1, d.Round)
		require.Equal(t, now.Add(pause), *d.DueAt)
		now = *d.DueAt
	}
	last := d.After(webhook.Attempt{At: now, Trouble: webhook.TimedOut}, now)
	require.Equal(t, webhook.GivenUp, last.State)
	require.Nil(t, last.DueAt)
	require.Len(t, last.Attempts, 4)
	require.Len(t, d.Attempts, 3, "the one before is not written into")
	require.Equal(t, webhook.Delivered, d.After(webhook.Attempt{At: now, Status: 204}, now).State)

	again := last.Again(now)
	require.Equal(t, webhook.Pending, again.State)
	require.Zero(t, again.Round)
	require.Equal(t, now, *again.DueAt)
	require.Len(t, again.Attempts, 4)
	hurried := d.Again(now)
	require.Equal(t, webhook.Failed, hurried.State, "one that is open goes on where it is")
	require.Equal(t, 3, hurried.Round)
	for range 50 {
		again = again.After(webhook.Attempt{At: now, Status: 200}, now).Again(now)
	}
	require.Len(t, again.Attempts, webhook.MaxAttempts)
}

func TestTheBodyOfAnEvent(t *testing.T) {
	e := webhook.Event{
		ID: id.MustParse[id.EventKind]("event_0000000000e008ztk5wvz3r2m1"), Workspace: id.MustParse[id.WorkspaceKind]("ws_0000000000e008ztk5wvz3r2m1"),
		Type: webhook.BudgetAlert, At: at, Data: map[string]int64{"used_nanos": 9_007_199_254_740_993},
	}
	body, err := e.Body()
	require.NoError(t, err)
	const want = `{"id":"event_0000000000e008ztk5wvz3r2m1","type":"budget.alert","created_at":"2026-03-04T05:06:07Z",` +
		`"workspace_id":"ws_0000000000e008ztk5wvz3r2m1","data":{"used_nanos":9007199254740993}}`
	require.Zero(t, strings.Compare(want, string(body)), "byte for byte, it is what is signed: %s", body)
}

func TestThePreviousSecretSignsForADay(t *testing.T) {
	until := at.Add(webhook.Overlap)
	w := webhook.Webhook{Previous: secret.Sealed{1}, PreviousUntil: &until}
	require.True(t, w.SignsWith(at))
	require.True(t, w.SignsWith(until.Add(-time.Nanosecond)))
	require.False(t, w.SignsWith(until))
	require.False(t, webhook.Webhook{PreviousUntil: &until}.SignsWith(at))
}
