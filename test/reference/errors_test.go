package reference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	controlplane "github.com/signalbox-dev/signalbox/controlplane/app"
	dataplane "github.com/signalbox-dev/signalbox/dataplane/app"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/test/reference"
)

func TestReferenceErrors(t *testing.T) {
	const source = "shared/fault/codes.go"
	codes, err := reference.Constants(root, source, "Code")
	require.NoError(t, err)
	require.Len(t, codes, len(fault.All()))
	reasons, err := reference.Constants(root, source, "Reason")
	require.NoError(t, err)
	require.NotEmpty(t, reasons)
	require.Empty(t, reference.Unexplained(codes, reasons), "codes and reasons without an explanation")

	givers, err := reference.FindGivers(root)
	require.NoError(t, err)
	for _, c := range codes {
		_, known := controlplane.StatusOf(fault.Code(c.Value))
		require.True(t, known || !givers.Management[c.Name] || c.Value == string(fault.ClientClosed), "the management API has no status for %s", c.Value)
	}
	current(t, "errors.md", reference.ErrorsPage(reference.Statuses{
		Inference: dataplane.StatusOf, Management: controlplane.StatusOf,
	}, givers, codes, reasons))
}
