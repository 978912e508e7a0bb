package attempt

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
)

// Talk is the provider's side of a conversation over frames, which nothing but
// ctx limits.
func Talk(ctx context.Context, frames call.Frames, codec upstream.Codec) call.Frames {
	t := &talk{flight: &flight{watch: newWatch(ctx, time.Now().Add(time.Hour))}, frames: frames, codec: codec}
	t.speaker, _ = codec.(upstream.Speaker)
	return t
}

// VerdictOf is what a failure means for health; own says that the
// credential was the workspace's.
func VerdictOf(f *upstream.Failure, own bool) health.Verdict { return verdictOf(f, own) }

// Rule is what follows from a class of failure, in the words of the reference.
type Rule struct {
	NextCredential, NextCandidate, Retry, NextModel, Submission string
	Verdict                                                     health.Verdict
	Hurried                                                     bool
}

// RuleOf describes the rule of a class.
func RuleOf(class upstream.Class) Rule {
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "–"
	}
	rule := rules[class]
	out := Rule{
		NextCredential: yes(rule.ofCredential), NextCandidate: yes(rule.moves), Retry: yes(rule.retry),
		NextModel:  map[nextModel]string{modelNever: "–", modelNext: "yes", modelLarger: "larger window, written-out chain"}[rule.model],
		Submission: "when the status was a 4xx or 503", Verdict: rule.verdict, Hurried: rule.hurried,
	}
	if rule.timeout {
		out.Retry = "once"
	}
	if rule.untouched {
		out.Submission = "yes"
	}
	if !rule.moves {
		out.Submission = "–"
	}
	return out
}
