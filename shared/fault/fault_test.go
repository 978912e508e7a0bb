package fault_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

// constants reads every constant of a type from codes.go.
func constants(t *testing.T, typeName string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	require.NoError(t, err)
	found := map[string]string{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if kind, ok := value.Type.(*ast.Ident); ok && kind.Name == typeName {
				text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				found[value.Names[0].Name] = text
			}
		}
	}
	return found
}

func TestAllListsEveryCodeOnce(t *testing.T) {
	declared := constants(t, "Code")
	require.Len(t, fault.All(), len(declared))
	listed := map[fault.Code]bool{}
	for _, code := range fault.All() {
		require.False(t, listed[code], code)
		listed[code] = true
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, string(code))
	}
	for name, code := range declared {
		require.True(t, listed[fault.Code(code)], name)
	}
}

func TestReasonsAreDistinct(t *testing.T) {
	seen := map[string]string{}
	for name, reason := range constants(t, "Reason") {
		require.Regexp(t, `^[a-z]+(_[a-z]+)*$`, reason)
		require.Empty(t, seen[reason], "%s and %s", name, seen[reason])
		seen[reason] = name
	}
}

func TestOf(t *testing.T) {
	require.Nil(t, fault.Of(nil))
	require.Equal(t, fault.Code(""), fault.CodeOf(nil))
	require.False(t, fault.Is(nil, fault.GatewayError))

	cause := errors.New("dial tcp 10.0.0.1: secret detail")
	unknown := fault.Of(cause)
	require.Equal(t, fault.GatewayError, unknown.Code)
	require.NotContains(t, unknown.Message, "secret detail", "what nobody coded is not shown")
	require.ErrorIs(t, unknown, cause)

	own := fault.Wrap(cause, fault.Unavailable, "The store is away.")
	wrapped := fmt.Errorf("create key: %w", own)
	require.Same(t, own, fault.Of(wrapped))
	require.True(t, fault.Is(wrapped, fault.Unavailable))
	require.ErrorIs(t, wrapped, cause)
	require.NotContains(t, own.Message, "secret detail")
	require.Contains(t, own.Error(), "secret detail", "the log sees the chain")
}

func TestInvalid(t *testing.T) {
	one := fault.Invalid(fault.Violation{Path: "model", Message: "is required"})
	require.Equal(t, "model: is required", one.Message)
	whole := fault.Invalid(fault.Violation{Message: "want an object"})
	require.Equal(t, "want an object", whole.Message)
	two := fault.Invalid(fault.Violation{Path: "a"}, fault.Violation{Path: "b"})
	require.Len(t, two.Violations, 2)
	require.NotEmpty(t, two.Message)
}

func TestBuilders(t *testing.T) {
	e := fault.Newf(fault.RateLimitExceeded, "At most %d.", 5).Because("why").From(fault.Upstream).After(time.Second).With("a", 1).With("b", 2)
	require.Equal(t, "At most 5.", e.Message)
	require.Equal(t, fault.Reason("why"), e.Reason)
	require.Equal(t, fault.Upstream, e.Origin)
	require.True(t, e.Retryable)
	require.Equal(t, time.Second, e.RetryAfter)
	require.Equal(t, map[string]any{"a": 1, "b": 2}, e.Fields)
	require.Equal(t, "rate_limit_exceeded/why: At most 5.", e.Error())
	require.NoError(t, fault.New(fault.NotFound, "x").Unwrap())
}
