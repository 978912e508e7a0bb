package postgres

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/autorouting"
	"github.com/signalbox-dev/signalbox/controlplane/internal/budget"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/controlplane/internal/guardrail"
	"github.com/signalbox-dev/signalbox/controlplane/internal/managementkey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/override"
	"github.com/signalbox-dev/signalbox/controlplane/internal/preset"
	"github.com/signalbox-dev/signalbox/controlplane/internal/profile"
	"github.com/signalbox-dev/signalbox/controlplane/internal/settings"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/testkit/fill"
)

// A domain value goes to its row and back without losing a field, and the row
// has no column that is not set.
func TestRowsRoundTrip(t *testing.T) {
	for seed := 1; seed <= 2; seed++ { // both values of every bool
		w := fill.Value[workspace.Workspace](seed)
		require.Equal(t, w, workspaceRowOf(w).workspace())
		k := fill.Value[apikey.Key](seed)
		require.Equal(t, k, apiKeyRowOf(k).key())
		m := fill.Value[managementkey.Key](seed)
		require.Equal(t, m, managementKeyRowOf(m).key())
		b := fill.Value[byok.Credential](seed)
		require.Equal(t, b, byokRowOf(b).credential())
		s := fill.Value[settings.Settings](seed)
		require.Equal(t, s, settingsRowOf(fill.Value[id.Workspace](1), s).settings())
		a := fill.Value[autorouting.Config](seed)
		require.Equal(t, a, autoRoutingRowOf(fill.Value[id.Workspace](1), a).config())
		d := fill.Value[department.Department](seed)
		require.Equal(t, d, departmentRowOf(d).department())
		p := fill.Value[profile.Profile](seed)
		require.Equal(t, p, profileRowOf(p).profile())
		money := fill.Value[budget.Budget](seed)
		require.Equal(t, money, budgetRowOf(money).budget())
		g := fill.Value[guardrail.Guardrail](seed)
		require.Equal(t, g, guardrailRowOf(g).guardrail())
		bound := fill.Value[guardrail.Binding[id.KeyKind]](seed)
		row := boundRowOf(fill.Value[id.Workspace](1), g.ID, bound.ID.UUID(), bound.AddedAt)
		require.Equal(t, bound, bindingOf[id.KeyKind](row))
		require.Empty(t, fill.Zero(row))
		r := fill.Value[dynamicroute.Route](seed)
		require.Equal(t, r, routeRowOf(r).route())
		dep := fill.Value[dynamicroute.Deployment](seed)
		require.Equal(t, dep, routeDeploymentRowOf(dep).deployment())
		made := fill.Value[preset.Preset](seed)
		made.Draft.Params = map[string]json.RawMessage{"seed": json.RawMessage("1")}
		require.Equal(t, made, presetRowOf(made).preset())
		version := fill.Value[preset.Version](seed)
		version.Config.Params = made.Draft.Params
		require.Equal(t, version, presetVersionRowOf(version).version())
		deployment := fill.Value[preset.Deployment](seed)
		require.Equal(t, deployment, deploymentRowOf(made.Workspace, made.ID, deployment).deployment())
		publisher := fill.Value[preset.Publisher](seed)
		require.Equal(t, publisher, publisherRowOf(publisher).publisher())
		e := fill.Value[audit.Event](seed)
		require.Equal(t, e, auditRowOf(e).event())
	}
	require.Empty(t, fill.Zero(workspaceRowOf(fill.Value[workspace.Workspace](1))))
	require.Empty(t, fill.Zero(apiKeyRowOf(fill.Value[apikey.Key](1))))
	require.Empty(t, fill.Zero(managementKeyRowOf(fill.Value[managementkey.Key](1))))
	require.Empty(t, fill.Zero(byokRowOf(fill.Value[byok.Credential](1))))
	require.Empty(t, fill.Zero(settingsRowOf(fill.Value[id.Workspace](1), fill.Value[settings.Settings](1))))
	require.Empty(t, fill.Zero(autoRoutingRowOf(fill.Value[id.Workspace](1), fill.Value[autorouting.Config](1))))
	require.Empty(t, fill.Zero(departmentRowOf(fill.Value[department.Department](1))))
	require.Empty(t, fill.Zero(profileRowOf(fill.Value[profile.Profile](1))))
	require.Empty(t, fill.Zero(budgetRowOf(fill.Value[budget.Budget](1))))
	require.Empty(t, fill.Zero(guardrailRowOf(fill.Value[guardrail.Guardrail](1))))
	require.Empty(t, fill.Zero(routeRowOf(fill.Value[dynamicroute.Route](1))))
	require.Empty(t, fill.Zero(routeDeploymentRowOf(fill.Value[dynamicroute.Deployment](1))))
	require.Empty(t, fill.Zero(presetRowOf(fill.Value[preset.Preset](1))))
	require.Empty(t, fill.Zero(presetVersionRowOf(fill.Value[preset.Version](1))))
	require.Empty(t, fill.Zero(deploymentRowOf(fill.Value[id.Workspace](1), fill.Value[id.Preset](1), fill.Value[preset.Deployment](1))))
	require.Empty(t, fill.Zero(publisherRowOf(fill.Value[preset.Publisher](1))))
	require.Empty(t, fill.Zero(auditRowOf(fill.Value[audit.Event](1))))
}

// A graph has conditions within conditions, so a version is not filled as a
// whole.
func TestVersionsOfRoutesRoundTrip(t *testing.T) {
	v := versionOf(fill.Value[id.Workspace](1))
	v.Parent, v.CreatedBy = 7, fill.Value[id.User](2)
	row, err := routeVersionRowOf(v)
	require.NoError(t, err)
	require.Empty(t, fill.Zero(row))
	back, err := row.version()
	require.NoError(t, err)
	require.Equal(t, v, back)
	for f, field := range reflect.ValueOf(v).Fields() {
		require.False(t, field.IsZero(), f.Name)
	}
}

func TestOverridesRoundTrip(t *testing.T) {
	for seed := 1; seed <= 2; seed++ {
		s := fill.Value[override.State](seed)
		s.By = audit.Actor{Kind: audit.Operator, Name: "operator"} // all that an operator has
		require.Equal(t, s, overrideRowOf(s).state())
		require.Empty(t, fill.Zero(overrideRowOf(s)))
		e := fill.Value[audit.Event](seed)
		e.Workspace, e.Actor = id.Workspace{}, s.By
		require.Equal(t, e, platformAuditRowOf(e).event())
	}
}

func TestMembersRoundTrip(t *testing.T) {
	m := fill.Value[workspace.Member](1)
	user, member := userRowOf(m), memberRowOf(m)
	require.Equal(t, m, personRow{
		WorkspaceID: member.WorkspaceID, UserID: user.ID, Email: user.Email, Name: user.Name, Role: member.Role, CreatedAt: member.CreatedAt,
	}.member())
}

// An update writes every column but those that must never change.
func TestUpdatesWriteEveryColumn(t *testing.T) {
	cases := map[string]struct {
		row        any
		changeable map[string]any
		fixed      []string
	}{
		"workspace":      {workspaceRow{}, workspaceRow{}.changeable(), []string{"id", "created_at"}},
		"api key":        {apiKeyRow{}, apiKeyRow{}.changeable(), []string{"id", "workspace_id", "kid", "created_by", "created_at", "last_used_at"}},
		"management key": {managementKeyRow{}, managementKeyRow{}.changeable(), []string{"id", "workspace_id", "kid", "created_by", "created_at", "last_used_at"}},
		"provider key":   {byokRow{}, byokRow{}.changeable(), []string{"id", "workspace_id", "provider", "created_by", "created_at", "verification"}},
		"settings":       {settingsRow{}, settingsRow{}.changeable(), []string{"workspace_id"}},
		"auto routing":   {autoRoutingRow{}, autoRoutingRow{}.changeable(), []string{"workspace_id"}},
		"department":     {departmentRow{}, departmentRow{}.changeable(), []string{"id", "workspace_id", "created_at"}},
		"dynamic route":  {routeRow{}, routeRow{}.changeable(), []string{"id", "workspace_id", "created_at"}},
		"preset":         {presetRow{}, presetRow{}.changeable(), []string{"id", "workspace_id", "slug", "created_by", "created_at"}},
		"budget": {budgetRow{}, budgetRow{}.changeable(), []string{
			"id", "workspace_id", "department_id", "guardrail_id", "agent", "interval", "created_by", "created_at",
		}},
		"guardrail":       {guardrailRow{}, guardrailRow{}.changeable(), []string{"id", "workspace_id", "created_at"}},
		"routing profile": {profileRow{}, profileRow{}.changeable(), []string{"id", "workspace_id", "created_at"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var written []string
			for column := range c.changeable {
				written = append(written, column)
			}
			require.ElementsMatch(t, columnsOf(c.row), append(written, c.fixed...))
		})
	}
}

func columnsOf(row any) []string {
	var list []string
	for f := range reflect.TypeOf(row).Fields() {
		if f.Tag.Get("gorm") == "embedded" {
			list = append(list, columnsOf(reflect.Zero(f.Type).Interface())...)
			continue
		}
		_, rest, _ := strings.Cut(f.Tag.Get("gorm"), "column:")
		name, _, _ := strings.Cut(rest, ";")
		list = append(list, name)
	}
	return list
}

func TestTextArrayKeepsAwkwardText(t *testing.T) {
	for _, list := range [][]string{nil, {"a"}, {"", "NULL", `q"uo\te`, "br{ace}", "com,ma", "日本", " "}} {
		value, err := textArray(list).Value()
		require.NoError(t, err)
		var back textArray
		require.NoError(t, back.Scan(value))
		require.Equal(t, list, back.list())
	}
}
