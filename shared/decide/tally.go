package decide

import "github.com/signalbox-dev/signalbox/shared/catalog"

// tally counts what the filters dropped for the chain's entry at hand: all of
// it, where the record lists no more than maxExclusions.
type tally struct {
	stages  [StageCredential + 1]fallen
	demands int              // dropped by something that is asked of an endpoint, other than a region
	present int              // dropped although it is there, switched on and has a key
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
	if !absent(reason) {
		t.present++
	}
	switch {
	case stage == StageRegion:
		t.foreign = append(t.foreign, o)
	case demands(reason):
		t.demands++
	}
}

// absent reports whether a reason is that an endpoint is not to be had at all.
func absent(reason string) bool {
	switch reason {
	case reasonProviderDisabled, reasonEndpointDisabled, reasonNoCredential, reasonNoAddress:
		return true
	}
	return false
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
