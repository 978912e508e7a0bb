package api

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/controlplane/internal/api/site"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/authz"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/httpserver"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/logging"
)

// caller is who makes the call and how far they may go. It travels in the
// request's context.
type caller struct {
	authz.Principal
	grant     authz.Grant
	requestID string
	operation string
}

type callerKey struct{}

// callerOf returns the caller that identify found. Handlers run behind it.
func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// by is the caller as the audit log names it.
func (c caller) by() audit.By {
	actor := audit.Actor{Kind: audit.Operator, Name: "operator"}
	if !c.Operator {
		actor = audit.Actor{Kind: audit.ManagementKey, ID: c.Key.String(), User: c.User, Name: c.KeyName}
	}
	return audit.By{Actor: actor, RequestID: c.requestID}
}

// mayTouch refuses what someone else created to a caller who may only touch
// their own.
func (c caller) mayTouch(creator id.User) error {
	if c.grant.OwnOnly && creator != c.User {
		return fault.New(fault.Forbidden, "The role of the key's creator allows this only for keys that they created.")
	}
	return nil
}

// mayBind refuses to bind policy to a key, or to take it off, to a caller who
// may only touch their own: it holds for them, so it is not theirs to choose.
func (c caller) mayBind(wanted bool) error {
	if wanted && c.grant.OwnOnly {
		return fault.New(fault.Forbidden, "Routing profiles and departments are bound to keys by owners and admins.")
	}
	return nil
}

// mayLimit does so for limits, and for the agent whose budgets a key counts
// toward.
func (c caller) mayLimit(wanted bool) error {
	if wanted && c.grant.OwnOnly {
		return fault.New(fault.Forbidden, "Limits and agents of keys are set by owners and admins.")
	}
	return nil
}

// identify finds out who calls and whether they may, before anything of the
// request is looked at.
func (s *Server) identify(c *gin.Context) {
	site.Data(c)
	route := s.contract.route(c)
	if route == nil {
		s.noRoute(c)
		return
	}
	ctx := c.Request.Context()
	principal, err := s.auth.Authenticate(ctx, c.Request.Header)
	if err != nil {
		s.fail(c, err)
		return
	}
	grant, err := authz.Check(principal, route.Operation.OperationID)
	if err != nil {
		s.fail(c, err)
		return
	}
	if !principal.Operator {
		ctx = logging.With(ctx, slog.String("workspace", principal.Workspace.String()))
	}
	ctx = context.WithValue(ctx, callerKey{}, caller{
		Principal: principal, grant: grant,
		requestID: httpserver.RequestID(c), operation: route.Operation.OperationID,
	})
	c.Request = c.Request.WithContext(ctx)
}

// check holds the request against the contract.
func (s *Server) check(c *gin.Context) {
	route := s.contract.route(c)
	body, err := s.readBody(c, takesBody(route))
	if err == nil {
		c.Set(bodyKey, body)
		err = s.contract.validate(c, route)
	}
	if err != nil {
		s.fail(c, err)
	}
}

// unbindable answers what the contract admitted and the generated types could
// not hold, such as a number beyond 64 bits. The binder's text repeats values.
func (s *Server) unbindable(c *gin.Context, err error) {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		s.fail(c, fault.Invalid(fault.Violation{
			Path: wrong.Field, Code: rule.OutOfRange, Message: "is outside the range of its type, or a whole number written with a point or an exponent",
		}))
		return
	}
	s.fail(c, fault.Wrap(err, fault.ValidationError, "A value is outside the range that its type can hold."))
}

const bodyKey = "signalbox.body"
