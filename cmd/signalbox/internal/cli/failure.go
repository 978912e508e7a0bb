package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// The exit codes.
const (
	ExitOK          = 0
	ExitFailure     = 1   // anything without a code of its own
	ExitUsage       = 2   // wrong command, flag, argument or input
	ExitRefused     = 3   // no credential, or one that may not do this
	ExitNotFound    = 4   // no such thing
	ExitConflict    = 5   // the state does not allow it, or it changed meanwhile
	ExitUnavailable = 6   // the server cannot be reached, or failed
	ExitPending     = 7   // done, but some gateways had not applied it in time
	ExitInterrupted = 130 // Ctrl-C
)

// ExitCodes explains the codes for the reference page, in order.
func ExitCodes() []struct {
	Code    int
	Meaning string
} {
	return []struct {
		Code    int
		Meaning string
	}{
		{ExitOK, "Done."},
		{ExitFailure, "It failed in a way that has no code of its own."},
		{ExitUsage, "A wrong command, flag or argument, or input that the server refused as invalid."},
		{ExitRefused, "There is no credential, it is not valid, or it may not do this."},
		{ExitNotFound, "There is no such thing."},
		{ExitConflict, "The state does not allow it, or it was changed meanwhile."},
		{ExitUnavailable, "The server cannot be reached, or it failed."},
		{ExitPending, "The change is made, but some gateways had not applied it when `--wait` ran out."},
		{ExitInterrupted, "Interrupted."},
	}
}

// usageError is a mistake in how the command was called.
type usageError struct{ cause error }

func (e usageError) Error() string { return e.cause.Error() }
func (e usageError) Unwrap() error { return e.cause }

// misuse returns a usage error.
func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// oneOf allows some words; "" among them means that the flag may be left out.
func oneOf(name, text string, allowed ...string) error {
	if slices.Contains(allowed, text) {
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(allowed), func(w string) bool { return w == "" })
	return misuse("%s must be one of %s", name, strings.Join(words, ", "))
}

// errPending says that gateways lag behind a change that was made.
var errPending = errors.New("the change is saved, but some gateways have not applied it yet; follow it with: signalbox publications list")

// errNoCredential says that a call needs a credential that nothing gives.
type errNoCredential struct{ what, variable string }

func (e errNoCredential) Error() string {
	return fmt.Sprintf("no %s: set %s or %s_FILE, or run this where `signalbox dev` keeps its data", e.what, e.variable, e.variable)
}

// unreachable is a server that gave no answer.
type unreachable struct{ cause error }

func (e unreachable) Error() string { return "the server cannot be reached: " + e.cause.Error() }
func (e unreachable) Unwrap() error { return e.cause }

// notFound is a name that nothing has.
type notFound struct{ what, name string }

func (e notFound) Error() string {
	return fmt.Sprintf("there is no %s with the name %s", e.what, clean(e.name))
}

// wrongState is what this command found out itself to be in the way.
type wrongState struct{ reason string }

func (e wrongState) Error() string { return e.reason }

// absent is what an answer without anything in it means.
type absent struct{ reason string }

func (e absent) Error() string { return e.reason }

// refusal is an answer that says why not.
type refusal struct {
	status  int
	problem client.Problem
	after   time.Duration // when to try again; 0: the answer does not say
}

func (e refusal) Error() string {
	var b strings.Builder
	b.WriteString(e.headline())
	if all := e.violations(); len(all) > 1 {
		for _, v := range all {
			fmt.Fprintf(&b, "\n  %s: %s", placeOf(v), v.Message)
		}
	}
	fmt.Fprintf(&b, " (%s", e.problem.Code)
	if e.problem.Reason != nil {
		b.WriteString(", " + *e.problem.Reason)
	}
	if e.problem.RequestID != "" {
		b.WriteString(", request " + e.problem.RequestID)
	}
	b.WriteByte(')')
	if e.after > 0 {
		fmt.Fprintf(&b, "; try again in %d s", int64((e.after+time.Second-1)/time.Second))
	}
	return b.String()
}

func (e refusal) violations() []client.Violation {
	if e.problem.Violations == nil {
		return nil
	}
	return *e.problem.Violations
}

// headline is what the server says, or how many places are wrong where each is
// listed after it: what it says then is the first of them.
func (e refusal) headline() string {
	all := e.violations()
	switch {
	case len(all) > 1:
		return fmt.Sprintf("%d things are wrong:", len(all))
	case len(all) == 1 && all[0].Node != nil:
		return placeOf(all[0]) + ": " + all[0].Message
	}
	return e.problem.Detail
}

// placeOf is where something is wrong, with the id of the node that an index
// stands for.
func placeOf(v client.Violation) string {
	if v.Node == nil {
		return v.Path
	}
	return fmt.Sprintf("%s (node %s)", v.Path, clean(*v.Node))
}

// within takes from the places of a refusal a prefix that the caller's file does
// not have.
func within(prefix string, err error) error {
	no, ok := errors.AsType[refusal](err)
	if !ok {
		return err
	}
	all := slices.Clone(no.violations())
	for i := range all {
		all[i].Path = strings.TrimPrefix(all[i].Path, prefix)
	}
	no.problem.Violations, no.problem.Detail = &all, strings.TrimPrefix(no.problem.Detail, prefix)
	return no
}

// refused reads the problem of an answer that is not 2xx.
func refused(status int, body []byte) error {
	e := refusal{status: status}
	if json.Unmarshal(body, &e.problem) != nil || e.problem.Code == "" {
		e.problem.Code = fmt.Sprintf("status %d", status)
		e.problem.Detail = "The server answered " + http.StatusText(status) + ". Is this the URL of a Signalbox control plane?"
	}
	return e
}

func exitCode(ctx context.Context, err error) int {
	var usage usageError
	var missing errNoCredential
	var away unreachable
	var gone notThere
	var nothing notFound
	var late unrecorded
	var none absent
	var state wrongState
	var no refusal
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return ExitInterrupted
	case errors.As(err, &usage):
		return ExitUsage
	case isCobra(err):
		return ExitUsage
	case errors.As(err, &missing):
		return ExitRefused
	case errors.Is(err, errPending):
		return ExitPending
	case errors.As(err, &nothing), errors.As(err, &late), errors.As(err, &none):
		return ExitNotFound
	case errors.As(err, &state):
		return ExitConflict
	case errors.As(err, &away), errors.As(err, &gone):
		return ExitUnavailable
	case errors.As(err, &no):
		return codeOf(no.status)
	}
	return ExitFailure
}

// isCobra tells usage errors that cobra has no types for.
func isCobra(err error) bool {
	return strings.HasPrefix(err.Error(), "unknown command") || strings.HasPrefix(err.Error(), "required flag")
}

func codeOf(status int) int {
	switch {
	case status == http.StatusBadRequest:
		return ExitUsage
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ExitRefused
	case status == http.StatusNotFound:
		return ExitNotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return ExitConflict
	case status >= http.StatusInternalServerError:
		return ExitUnavailable
	}
	return ExitFailure
}
