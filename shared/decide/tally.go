package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// tally counts what the filters dropped for the chain's entry at hand: all of
// it, where the record lists no more than maxExclusions.
type tally struct {
	stages  [StageCredential + 1]fallen
	demands int              // dropped by something that is asked of an endpoint, other than a region
	foreign []*catalog.Offer // dropped by the region
}

// fallen is how many endpoints one stage dropped, and the last reason.
type fallen struct {
	dropped int
	reason  string
}

func (t *tally) add(o *catalog.Offer, stage Stage, reason string) {
	t.stages[stage].dropped++
	t.stages[stage].reason = reason
	switch {
	case stage == StageRegion:
		t.foreign = append(t.foreign, o)
	case demands(reason):
		t.demands++
	}
}

// operatorsAlone reports whether nothing that anybody asked for had a part in
// emptying the pool: what is not there, switched off or without a key.
func (t *tally) operatorsAlone() bool {
	for stage := range t.stages {
		switch Stage(stage) {
		case StageNone, StageProviderPolicy, StageRollout, StageCredential:
		default:
			if t.stages[stage].dropped > 0 {
				return false
			}
		}
	}
	return true
}

// demands reports whether a reason is something that is asked of an endpoint,
// not what it is.
func demands(reason string) bool {
	switch reason {
	case reasonOtherProvider, reasonProviderDisabled, reasonBetaOff, reasonAlphaOff, reasonEndpointDisabled,
		reasonFormat, reasonSurface, reasonModality:
		return false
	}
	return true
}
