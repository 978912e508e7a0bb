package facts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/surface/facts"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// sane is what must hold of the facts of anything.
func sane(t *testing.T, q call.Request, refusal *fault.Error) {
	if refusal != nil {
		require.Contains(t, []fault.Code{fault.InvalidJSON, fault.ValidationError}, refusal.Code)
		require.LessOrEqual(t, len(refusal.Violations), 64)
		return
	}
	require.GreaterOrEqual(t, q.InputTokens, int64(0))
	require.GreaterOrEqual(t, q.OutputTokens, int64(0))
	require.LessOrEqual(t, len(q.Models), facts.MaxModels)
	require.LessOrEqual(t, len(q.Metadata), facts.MaxMetadata)
	require.LessOrEqual(t, len(q.Model), facts.MaxNameBytes)
	require.LessOrEqual(t, len(q.SessionID), facts.MaxIDBytes)
	require.LessOrEqual(t, len(q.EndUser), facts.MaxIDBytes)
}

// FuzzRead reads a body as every JSON format.
func FuzzRead(f *testing.F) {
	for _, c := range least {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, c := range least {
			q, refusal := facts.Read(c.format, body, nil, options)
			sane(t, q, refusal)
		}
	})
}

// FuzzReadForm reads a form as every form format.
func FuzzReadForm(f *testing.F) {
	body, boundary := form(f, "model", "m", "@file", "x", "models[]", "a", "metadata[a]", "b", "provider", `{"only":["a"]}`, "stream", "true")
	f.Add(body, boundary)
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		for _, format := range []facts.Format{facts.Transcriptions, facts.ImageEdits, facts.OCR, facts.Parse, facts.Decisions} {
			q, refusal := facts.ReadForm(format, body, boundary, nil, options)
			sane(t, q, refusal)
		}
	})
}
