package workspace

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/shared/fault"
)

func TestSlugsAreDerived(t *testing.T) {
	for name, want := range map[string]string{
		"Acme": "acme", "  Acme  Inc. ": "acme-inc", "--x--": "x", strings.Repeat("a", 80): strings.Repeat("a", 63),
		strings.Repeat("a", 62) + " bc": strings.Repeat("a", 62),
	} {
		n := NewWorkspace{Name: name, Owner: NewOwner{Email: "a@b.c"}}.normalised()
		require.Equal(t, want, n.Slug)
		require.NoError(t, n.Validate())
	}
	n := NewWorkspace{Name: "北京", Owner: NewOwner{Email: "a@b.c"}}.normalised()
	require.Equal(t, "slug", fault.Of(n.Validate()).Violations[0].Path, "nothing to derive from: ask")
}

func TestEmails(t *testing.T) {
	for _, good := range []string{"a@b", "ada.l+x@example.com", "ü@exämple.de"} {
		require.True(t, validEmail(good), good)
	}
	for _, bad := range []string{"", "a", "@b", "a@", "Ada <a@b.c>", "a b@c", `"a b"@c`, "a@b\r\nBcc: c@d", strings.Repeat("a", 251) + "@b.c"} {
		require.False(t, validEmail(bad), bad)
	}
}

func TestTags(t *testing.T) {
	good, bad := []string{"tier:gold", "a.b_c-1"}, []string{"Gold", "a b", "", "x", "x"}
	require.NoError(t, Patch{Tags: &good}.Validate())
	require.Len(t, fault.Of(Patch{Tags: &bad}.Validate()).Violations, 4)
}
