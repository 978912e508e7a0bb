package decide

import (
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Plan is the answer: the chain of models with their ranked candidates, or
// the refusal, and the record either way.
type Plan struct {
	Chain       []Step
	MaxAttempts int             // upstream calls over the whole chain
	Timeouts    policy.Timeouts // as the ladder sets them; 0: the server's
	Refusal     *fault.Error    // nil when there is something to try
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
	// Credentials are what the endpoint may be called with, in the order in
	// which they are tried; never empty. Candidates share them: nobody writes to
	// them.
	Credentials []CredentialUse
}
