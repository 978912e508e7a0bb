// Package authn owns who a caller of the management API is: it turns the
// Authorization header into a principal, or says why it cannot. It knows
// nothing of what the caller may do.
package authn

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// Keys finds the management key that a credential names. It fails with
// unauthorized and a reason, or unavailable.
type Keys interface {
	Authenticate(ctx context.Context, token secret.Token) (managementkey.Key, workspace.Member, error)
}

// Authenticator knows the two kinds of credential.
type Authenticator struct {
	keys     Keys
	operator [sha256.Size]byte
	enabled  bool
}

// New returns an Authenticator. Without an operator token nobody is operator.
func New(keys Keys, operator secret.String) *Authenticator {
	return &Authenticator{keys: keys, operator: sha256.Sum256([]byte(operator.Reveal())), enabled: !operator.IsZero()}
}

// Authenticate returns the caller. Every failure but unavailable is
// unauthorized with a reason.
func (a *Authenticator) Authenticate(ctx context.Context, header http.Header) (authz.Principal, error) {
	credential, err := bearer(header)
	if err != nil {
		return authz.Principal{}, err
	}
	if a.isOperator(credential) {
		return authz.Principal{Operator: true}, nil
	}
	token, err := secret.ParseToken(credential)
	if err != nil {
		return authz.Principal{}, refuse(fault.InvalidKeyFormat,
			"The credential has not the form of a management key, sb_mk_v1_…, and is not the operator token.")
	}
	if token.Kind != secret.Management {
		return authz.Principal{}, refuse(fault.InferenceKeyNotValidHere,
			"This is an inference key. The management API takes management keys, sb_mk_v1_….")
	}
	key, member, err := a.keys.Authenticate(ctx, token)
	if err != nil {
		return authz.Principal{}, err
	}
	return authz.Principal{
		Workspace: key.Workspace, User: member.User, Role: member.Role,
		Key: key.ID, KeyName: key.Name, Scopes: key.Scopes, ExpiresAt: key.ExpiresAt,
	}, nil
}

// isOperator compares digests, so that neither content nor length shows in the
// time it takes.
func (a *Authenticator) isOperator(credential string) bool {
	given := sha256.Sum256([]byte(credential))
	same := subtle.ConstantTimeCompare(given[:], a.operator[:]) == 1
	return same && a.enabled
}

func bearer(header http.Header) (string, error) {
	values := header.Values("Authorization")
	switch len(values) {
	case 0:
		return "", refuse(fault.MissingCredentials, "Send a management key: Authorization: Bearer sb_mk_v1_….")
	case 1:
	default:
		return "", refuse(fault.ConflictingCredentials, "Send one Authorization header.")
	}
	scheme, credential, _ := strings.Cut(values[0], " ")
	credential = strings.TrimSpace(credential)
	if !strings.EqualFold(scheme, "Bearer") || credential == "" {
		return "", refuse(fault.MissingCredentials, "The Authorization header must be: Bearer, a space, and a management key.")
	}
	return credential, nil
}

func refuse(reason fault.Reason, message string) error {
	return fault.New(fault.Unauthorized, message).Because(reason)
}
