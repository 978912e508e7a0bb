package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
)

// Plan is the answer: the chain of models with their ranked candidates, or
// the refusal, and the record either way.
type Plan struct {
	Chain       []Step
	MaxAttempts int          // upstream calls over the whole chain
	Refusal     *fault.Error // nil when there is something to try
	Record      Record
}

// Step is one model of the chain.
type Step struct {
	Model      *catalog.Model
	Candidates []Candidate // in the order in which they are tried; never empty
}

// Candidate is an endpoint that survived every filter.
type Candidate struct {
	Endpoint *catalog.Endpoint
	Provider *catalog.Provider
	Rank     int // from 0
}
