package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
)

type overrides struct {
	*override.Service
	t    *testing.T
	db   *DB
	opts override.Options
}

func openOverrides(t *testing.T) *overrides {
	t.Helper()
	db := openTest(t)
	keyring, err := seal.New()
	require.NoError(t, err)
	c := &clock{}
	c.at.Store(epoch.UnixMicro())
	store := NewOverrideStore()
	return &overrides{t: t, db: db, opts: override.Options{By: operator}, Service: override.NewService(override.Deps{
		System: db.System(), Store: store, History: store, Base: offered(), Sealer: keyring, IDs: testIDs, Now: c.now,
	})}
}

func (o *overrides) putNorth(body string) override.Changed {
	o.t.Helper()
	var e override.Entry
	require.NoError(o.t, json.Unmarshal([]byte(body), &e))
	changed, err := o.PutProvider(o.t.Context(), o.opts, "north", e)
	require.NoError(o.t, err)
	return changed
}

// keys are those of each stored version, sealed, by the slugs of providers.
func (o *overrides) keys() map[int64]map[string]secret.Sealed {
	o.t.Helper()
	found := make(map[int64]map[string]secret.Sealed)
	require.NoError(o.t, o.db.System().Read(o.t.Context(), func(ctx context.Context) error {
		var rows []overrideRow
		err := system(ctx).Find(&rows).Error
		for _, r := range rows {
			found[r.Version] = r.Keys.v
		}
		return err
	}))
	return found
}

func TestASealedKeyLivesWithThePresentVersionAlone(t *testing.T) {
	o := openOverrides(t)
	first := o.putNorth(`{"api_key":"sk-first-0123456789"}`)
	sealed := o.keys()[1]["north"]
	require.NotEmpty(t, sealed)
	require.Equal(t, first.Keys["north"], sealed)

	o.putNorth(`{"api_key":"sk-second-0123456789"}`)
	require.Equal(t, map[string]secret.Sealed{"north": nil}, o.keys()[1])
	require.NotEmpty(t, o.keys()[2]["north"])
	o.putNorth(`{"retry":{"max":1}}`)
	require.NotEmpty(t, o.keys()[3]["north"], "it stays with what is present")
	require.Empty(t, o.keys()[2]["north"])
	o.putNorth(`{"api_key":null}`)
	for version, keys := range o.keys() {
		require.Empty(t, keys["north"], "version %d keeps a key that was taken away", version)
	}

	was, err := o.At(t.Context(), 1)
	require.NoError(t, err)
	require.JSONEq(t, "true", string(was.Shown()[0]["api_key_set"]), "it had one")
	is, _, err := o.Get(t.Context())
	require.NoError(t, err)
	require.NotContains(t, is.Shown()[0], "api_key_set")
}

func TestTheHistoryIsBounded(t *testing.T) {
	o := openOverrides(t)
	const beyond = 3
	for n := range override.Kept + beyond {
		o.putNorth(fmt.Sprintf(`{"name":"North %d"}`, n))
	}
	require.Len(t, o.keys(), override.Kept)
	for version, want := range map[int64]bool{1: false, beyond: false, beyond + 1: true, override.Kept + beyond: true} {
		_, err := o.At(t.Context(), version)
		require.Equal(t, !want, fault.Is(err, fault.NotFound), "version %d", version)
	}
	present, _, err := o.Get(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, override.Kept+beyond, present.Version)
	require.NoError(t, o.db.System().InTx(t.Context(), func(ctx context.Context) error {
		return NewOverrideStore().Published(ctx, present.Version, 7, epoch)
	}))
	revision, err := o.Covering(t.Context(), 1)
	require.NoError(t, err)
	require.EqualValues(t, 7, revision, "a later version has what a deleted one had")
}

func TestARuleMakesNoModel(t *testing.T) {
	o := openOverrides(t)
	rule := override.Entry{"when": json.RawMessage(`{"source":"model","op":"exists"}`), "then": json.RawMessage(`{"provider":"north"}`)}
	for _, change := range []func(model string) (override.Changed, error){
		func(model string) (override.Changed, error) {
			return o.PutRule(t.Context(), o.opts, model, "gold", rule, nil)
		},
		func(model string) (override.Changed, error) {
			return o.OrderRules(t.Context(), o.opts, model, []string{"gold"})
		},
	} {
		_, err := change("acme/smal")
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		_, err = change("acme/small")
		require.NoError(t, err)
	}
	found, _, err := o.Get(t.Context())
	require.NoError(t, err)
	require.Len(t, found.Document.Models, 1)

	// One that the operator's catalog itself has is as good.
	_, err = o.PutModel(t.Context(), o.opts, "acme/own", override.Entry{"endpoints": json.RawMessage(`[{"provider":"north","upstream_model":"own"}]`)})
	require.NoError(t, err)
	_, err = o.PutRule(t.Context(), o.opts, "acme/own", "gold", rule, nil)
	require.NoError(t, err)
}
