// Package pipeline names the steps of a request in their order. It declares
// what each step must do and knows nothing of how: no stage, no HTTP server,
// no transport.
package pipeline

import (
	"context"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/condition"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/flow"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Authenticator believes the credential of a call. It only reads the call, of
// which others may fill in what they find meanwhile: Owned and Conversation.
type Authenticator interface {
	Authenticate(ctx context.Context, c *call.Call) (call.Principal, error)
}

// Policies pins the policy of a workspace at minRevision or later.
type Policies interface {
	Pin(ctx context.Context, ws id.Workspace, minRevision int64) (*policy.View, error)
}

// Catalogs has the present catalog; nil before the first one arrived.
type Catalogs interface {
	Catalog() *catalog.View
}

// Objects finds what a caller's name of a job or file stands for.
type Objects interface {
	// Ready says why nothing can be made on a surface; nil when it can.
	Ready(s catalog.Surface) *fault.Error
	Find(ws id.Workspace, s catalog.Surface, name string) (call.Owned, error)
	// Keep and Forget put a name on the workspace's list and take it off. What
	// is not listed is found all the same, so that they have no error.
	Keep(ctx context.Context, ws id.Workspace, s catalog.Surface, name string)
	Forget(ctx context.Context, ws id.Workspace, s catalog.Surface, name string)
}

// Affinity remembers where conversations go. It never fails and hardly waits.
type Affinity interface {
	// Find recognizes a call's conversation and returns what is remembered of it.
	Find(ctx context.Context, c *call.Call, rules decide.AffinityRules) call.Conversation
	// Peek is Find for a call that is not made: it counts nothing and asks nobody.
	Peek(c *call.Call, rules decide.AffinityRules) call.Conversation
	// Keep takes in how the call ended, and returns the account of affinity for
	// its record.
	Keep(c *call.Call, plan *decide.Plan, o *call.Outcome) *decide.AffinityTrace
}

// Decider is the routing kernel, decide.Input.Decide.
type Decider func(*decide.Input) decide.Plan

// ContentReader lets conditions of dynamic routes look into a call's body and
// headers.
type ContentReader func(c *call.Call, paths []string) condition.Facts

// Usage knows what keys have used. It hardly waits: what it cannot tell in time
// is not known.
type Usage interface {
	Usage(ctx context.Context, ws id.Workspace, key id.Key, now time.Time) flow.Usage
}

// Presets finds the version of a preset that a name means to a key's owner; name
// is what follows the @, in lower case. It fails with model_not_found for
// preset_not_found where there is none, and with upstream_undetermined where that
// cannot be known.
type Presets interface {
	Find(ctx context.Context, view *policy.View, owner id.User, name string) (*policy.PresetVersion, error)
}

// PresetAdder tells what a preset adds to a call.
type PresetAdder func(c *call.Call, with *policy.PresetVersion) decide.Added

// Health has a frozen view of what is known of the endpoints.
type Health interface {
	View() decide.Health
}

// Admitter runs the gates between the decision and the upstream calls. It is
// asked before each model of the chain that is tried, which is plan.Chain[step].
//
// While held is nil nothing was admitted yet: every gate runs, all are checked
// and then all are taken. Once there is a grant, held, only what depends on the
// model is checked again: guardrails, the allowance of free models, the credit
// floor, and a top-up of what is reserved where this model may cost more. The
// grant that comes back holds all of it and takes the place of held; it is
// settled once, by record. After an error held stands as it was.
//
// A refusal is a *call.Declined. One that speaks of this model alone has the next
// one asked. Any other error ends the request while nothing was admitted; later
// it only passes the model over, and never takes the place of the failure that
// had the chain go on.
type Admitter interface {
	Admit(ctx context.Context, c *call.Call, p *call.Principal, pin call.Pinned, plan *decide.Plan, step int, held call.Grant) (call.Grant, error)
}

// Beginner notes, before a model's first upstream call, that its turn is under
// way, so that it is accounted for even when the process dies.
type Beginner interface {
	Begin(c *call.Call, p *call.Principal, plan *decide.Plan, turn *call.Turn) error
}

// Attempter calls upstreams along the plan, one model at a time. The trial
// reads both for as long as the request runs.
type Attempter interface {
	Open(c *call.Call, plan *decide.Plan) call.Trial
}

// Deliverer sends a reply to the caller.
type Deliverer interface {
	Deliver(ctx context.Context, r *call.Reply, head http.Header, sink call.Sink) (call.Seen, error)
}

// Recorder accounts for a request of a known caller, also when that has left. It
// does not wait for the network.
type Recorder interface {
	// Pass accounts for the turn of a model that the chain goes past. Both complete
	// the outcome's decision record and last attempt where they are.
	Pass(ctx context.Context, c *call.Call, p *call.Principal, o *call.Outcome)
	// Record accounts for the request, once, and for the turn that it ended with.
	Record(ctx context.Context, c *call.Call, p *call.Principal, grant call.Grant, o *call.Outcome)
}

// AccessLog writes the one line of a request that is not recorded, such as one
// whose caller was not believed. The principal is zero then.
type AccessLog interface {
	Access(ctx context.Context, c *call.Call, p call.Principal, status int, failure *fault.Error)
}

// Steps are the stages that a Pipeline runs.
type Steps struct {
	Auth     Authenticator
	Policies Policies
	Catalogs Catalogs
	Objects  Objects
	Health   Health
	Affinity Affinity
	Content  ContentReader
	Usage    Usage
	Presets  Presets
	Adds     PresetAdder
	Decide   Decider
	Classify Classifier
	Admit    Admitter
	Begin    Beginner
	Attempt  Attempter
	Deliver  Deliverer
	Record   Recorder
	Access   AccessLog
	// Status is the HTTP status of a failure, for the turns whose failure the
	// caller never gets.
	Status func(*fault.Error) int
}

// Pipeline runs requests through the steps.
type Pipeline struct {
	steps Steps
	now   func() time.Time
	seed  func() uint64
	ids   *id.Source
}

// New returns a Pipeline. seed gives each decision its draws, ids the models
// behind the first one of a request their ids.
func New(steps Steps, now func() time.Time, seed func() uint64, ids *id.Source) *Pipeline {
	return &Pipeline{steps: steps, now: now, seed: seed, ids: ids}
}

// Serve takes one call down all steps: authenticate, pin, decide, then for one
// model of the chain after the other admit, begin and attempt, until one
// answers, deliver, and, whatever happened, record. A fault at one step is
// answered through the sink and skips the steps between it and record. What the
// steps find of the call is filled in where it is; it is nobody else's from then on.
func (p *Pipeline) Serve(ctx context.Context, c *call.Call, sink call.Sink) {
	principal, err := p.steps.Auth.Authenticate(ctx, c)
	if err != nil {
		failure := fault.Of(err)
		sink.Fail(failure, nil)
		p.steps.Access.Access(ctx, c, call.Principal{}, sink.Status(), failure)
		return
	}
	c.Workspace = principal.Key.Workspace
	if c.Surface == catalog.Realtime {
		var release func()
		ctx, release = p.watched(ctx, c)
		defer release()
	}
	r := &run{pipeline: p, call: c, principal: principal, sink: sink}
	r.outcome.Turn = call.Turn{ID: c.ID, Started: c.Received}
	defer r.finish(ctx)
	r.fail(ctx, r.steps(ctx))
}

// Identify takes a call as far as pinning. The discovery calls use it: they
// reach no upstream, are not usage, and write their access line themselves.
func (p *Pipeline) Identify(ctx context.Context, c *call.Call) (call.Principal, call.Pinned, error) {
	principal, err := p.steps.Auth.Authenticate(ctx, c)
	if err != nil {
		return call.Principal{}, call.Pinned{}, err
	}
	pin, err := p.pin(ctx, principal)
	return principal, pin, err
}

// pin fixes the one revision of policy and catalog that the request sees.
func (p *Pipeline) pin(ctx context.Context, principal call.Principal) (call.Pinned, error) {
	view, err := p.steps.Policies.Pin(ctx, principal.Key.Workspace, principal.Key.MinRevision)
	if err != nil {
		// Whatever the cause: that the policy is nowhere to be found is not the
		// caller's mistake, who has a key of the workspace.
		return call.Pinned{}, fault.Wrap(err, fault.UpstreamUndetermined,
			"The workspace's policy cannot be read at the moment. Try again shortly.").From(fault.Gateway).After(time.Second)
	}
	if !view.Active() {
		return call.Pinned{}, fault.New(fault.Unauthorized,
			"The API key was revoked. Use another one.").Because(fault.KeyRevoked)
	}
	cat := p.steps.Catalogs.Catalog()
	if cat == nil {
		return call.Pinned{}, fault.New(fault.UpstreamUndetermined,
			"This gateway has no model catalog yet. Try again shortly.").From(fault.Gateway).After(time.Second)
	}
	return call.Pinned{Policy: view, Catalog: cat}, nil
}
