package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// CheckRequest asks a gateway to make one cheap call with a workspace's
// credential, on SubjectCheck. The credential comes sealed, as it would by
// publication, so that one that is disabled can be checked; the gateway opens it
// for the workspace and the provider that are named here, or not at all.
type CheckRequest struct {
	Workspace id.Workspace  `json:"workspace"`
	Provider  string        `json:"provider"`         // slug
	Models    []string      `json:"models,omitempty"` // what the credential may be used for; empty: all
	Sealed    secret.Sealed `json:"sealed"`
}

// CheckReply is what came of it. Nothing in it is the provider's text.
type CheckReply struct {
	Status     CheckStatus   `json:"status,omitempty"`
	HTTPStatus int           `json:"http_status,omitempty"` // the provider's; 0: it gave no answer
	Call       CheckCall     `json:"call,omitempty"`
	Model      string        `json:"model,omitempty"` // that was asked; "" where the call needs none
	Latency    time.Duration `json:"latency_ns,omitempty"`
	// Trouble is set instead where no call was made.
	Trouble CheckTrouble `json:"trouble,omitempty"`
}

// CheckStatus is what a provider made of a credential.
type CheckStatus string

// The outcomes of a check.
const (
	CheckValid        CheckStatus = "valid"        // it took the credential
	CheckInvalid      CheckStatus = "invalid"      // it refused it
	CheckForbidden    CheckStatus = "forbidden"    // it knows it, and it may not do this
	CheckNoCredit     CheckStatus = "no_credit"    // the account cannot be charged
	CheckRateLimited  CheckStatus = "rate_limited" // it is used too much at the moment
	CheckUnreachable  CheckStatus = "unreachable"  // no answer came in time
	CheckInconclusive CheckStatus = "inconclusive" // the answer says nothing of the credential
)

// CheckCall is what a provider was asked.
type CheckCall string

// The calls, from the cheapest.
const (
	CheckListModels  CheckCall = "list_models"
	CheckCountTokens CheckCall = "count_tokens"
	CheckEmbedding   CheckCall = "embedding"  // of one word
	CheckCompletion  CheckCall = "completion" // of one token
)

// CheckTrouble says why a gateway made no call.
type CheckTrouble string

// The troubles.
const (
	CheckNotReadable CheckTrouble = "not_readable" // the request is not one
	CheckNotReady    CheckTrouble = "not_ready"    // no catalog yet, or too much to do
	CheckNoProvider  CheckTrouble = "no_provider"  // the catalog does not have it, or not for keys of workspaces
	CheckNoModel     CheckTrouble = "no_model"     // nothing to ask that the credential is for
	CheckNotOpened   CheckTrouble = "not_opened"   // the keyring does not open the credential
)

// maxChecked bounds a reply and the name of a model in it, in bytes.
const (
	maxChecked      = 4 << 10
	maxCheckedModel = 512
)

// ParseCheckReply reads a reply. One with another word than those above, or with
// what cannot be, is refused whole: it would be kept and shown.
func ParseCheckReply(body []byte) (CheckReply, error) {
	var r CheckReply
	if len(body) > maxChecked {
		return CheckReply{}, errors.New("read the reply to a check: it is too large")
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return CheckReply{}, fmt.Errorf("read the reply to a check: %w", err)
	}
	if !r.valid() {
		return CheckReply{}, errors.New("read the reply to a check: it has what cannot be")
	}
	return r, nil
}

func (r CheckReply) valid() bool {
	if r.Trouble != "" {
		return r.Trouble.known() && r == CheckReply{Trouble: r.Trouble}
	}
	return r.Status.known() && r.Call.known() && (r.HTTPStatus == 0 || r.HTTPStatus >= 100 && r.HTTPStatus <= 599) &&
		r.Latency >= 0 && len(r.Model) <= maxCheckedModel
}

func (s CheckStatus) known() bool {
	switch s {
	case CheckValid, CheckInvalid, CheckForbidden, CheckNoCredit, CheckRateLimited, CheckUnreachable, CheckInconclusive:
		return true
	}
	return false
}

func (c CheckCall) known() bool {
	switch c {
	case CheckListModels, CheckCountTokens, CheckEmbedding, CheckCompletion:
		return true
	}
	return false
}

func (t CheckTrouble) known() bool {
	switch t {
	case CheckNotReadable, CheckNotReady, CheckNoProvider, CheckNoModel, CheckNotOpened:
		return true
	}
	return false
}
