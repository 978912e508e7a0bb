package postgres

import (
	"context"
	"slices"

	"github.com/signalbox-dev/signalbox/controlplane/internal/apikey"
	"github.com/signalbox-dev/signalbox/controlplane/internal/byok"
	"github.com/signalbox-dev/signalbox/controlplane/internal/effective"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publish"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// Compiler reads the committed policy of one workspace as the tenant sees it,
// so that row-level security stands between tenants here too.
type Compiler struct {
	runner     *Runner
	deployment deployment
}

// NewCompiler returns a compiler over db.
func NewCompiler(db *DB) *Compiler { return &Compiler{runner: db.Runner()} }

// Compile implements publish.Compiler.
func (c *Compiler) Compile(ctx context.Context, ws id.Workspace) (publish.Compiled, error) {
	var compiled publish.Compiled
	err := c.runner.Read(ctx, ws, func(ctx context.Context) (err error) {
		if compiled.Snapshot, err = c.Policy(ctx, ws); err != nil {
			return err
		}
		if compiled.Keys, err = changedKeys(ctx, ws); err != nil {
			return err
		}
		if compiled.Presets, compiled.Public, err = changedPresets(ctx, ws); err != nil {
			return err
		}
		compiled.Since, err = lowestWaiting(tenant(ctx, ws), ws, compiled.Snapshot.Revision)
		return err
	})
	return compiled, err
}

// Policy implements effective.Policies.
func (c *Compiler) Policy(ctx context.Context, ws id.Workspace) (policy.Snapshot, error) {
	var own workspaceRow
	if err := tenant(ctx, ws).Where("id = ?", ws.UUID()).Take(&own).Error; err != nil {
		return policy.Snapshot{}, translate(err, "compile the workspace")
	}
	var revision revisionRow
	if err := scoped(ctx, ws).Take(&revision).Error; err != nil {
		return policy.Snapshot{}, translate(err, "compile the revision")
	}
	settings, err := NewSettingsStore().Get(ctx, ws)
	if err != nil {
		return policy.Snapshot{}, err
	}
	w := own.workspace()
	s := policy.Snapshot{
		Workspace: ws, Revision: revision.Revision, Status: w.Status,
		Tags: slices.Sorted(slices.Values(w.Tags)), Settings: settings.Settings, Profile: settings.Profile,
	}
	for _, read := range []func(context.Context, id.Workspace, *policy.Snapshot) error{
		part(func(s *policy.Snapshot) *[]policy.Credential { return &s.Credentials }, enabledCredentials),
		part(func(s *policy.Snapshot) *[]policy.Profile { return &s.Profiles }, publishedProfiles),
		part(func(s *policy.Snapshot) *[]policy.Department { return &s.Departments }, publishedDepartments),
		part(func(s *policy.Snapshot) *[]policy.Membership { return &s.Members }, publishedMembers),
		part(func(s *policy.Snapshot) *[]policy.Guardrail { return &s.Guardrails }, publishedGuardrails),
		part(func(s *policy.Snapshot) *[]policy.Route { return &s.Routes }, publishedRoutes),
		part(func(s *policy.Snapshot) *[]policy.Preset { return &s.Presets }, publishedPresets),
		part(func(s *policy.Snapshot) **policy.Auto { return &s.Auto }, publishedAuto),
		part(func(s *policy.Snapshot) **policy.Limits { return &s.Limits }, c.limits),
		record, // what of the rest is recorded
	} {
		if err := read(ctx, ws, &s); err != nil {
			return policy.Snapshot{}, err
		}
	}
	return s.Versioned(), nil
}

// part reads one field of a snapshot.
func part[T any](
	of func(*policy.Snapshot) *T, read func(context.Context, id.Workspace) (T, error),
) func(context.Context, id.Workspace, *policy.Snapshot) error {
	return func(ctx context.Context, ws id.Workspace, s *policy.Snapshot) (err error) {
		*of(s), err = read(ctx, ws)
		return err
	}
}

// published are the rows of the workspace in the order of their ids, as gateways
// get them.
func published[R, P any](ctx context.Context, ws id.Workspace, what string, of func(R) P) ([]P, error) {
	var rows []R
	if err := scoped(ctx, ws).Order("id").Find(&rows).Error; err != nil {
		return nil, translate(err, what)
	}
	var list []P
	for _, r := range rows {
		list = append(list, of(r))
	}
	return list, nil
}

// enabledCredentials are in the order in which those of a provider are tried.
func enabledCredentials(ctx context.Context, ws id.Workspace) ([]policy.Credential, error) {
	all, err := NewBYOKStore().All(ctx, ws)
	if err != nil {
		return nil, err
	}
	var list []policy.Credential
	for _, c := range all {
		if c.Enabled {
			list = append(list, byok.Published(c))
		}
	}
	return list, nil
}

// changedKeys are the documents that changed since the workspace was last
// published.
func changedKeys(ctx context.Context, ws id.Workspace) ([]policy.Key, error) {
	var rows []apiKeyRow
	err := scoped(ctx, ws).Where(`revision > coalesce((SELECT revision FROM published_policies WHERE workspace_id = ?), 0)`,
		ws.UUID()).Order("revision, id").Find(&rows).Error
	return documentsOf(rows), translate(err, "compile keys")
}

func documentsOf(rows []apiKeyRow) []policy.Key {
	list := make([]policy.Key, len(rows))
	for i, r := range rows {
		list[i] = apikey.Document(r.key())
	}
	return list
}

// Ledger sums up what should be in NATS, as the system role.
type Ledger struct{ system *System }

// NewLedger returns a ledger over db.
func NewLedger(db *DB) *Ledger { return &Ledger{system: db.System()} }

type sumRow struct {
	Part    string `gorm:"column:part"`
	Count   int64  `gorm:"column:count"`
	Highest int64  `gorm:"column:highest"`
	Hash    int64  `gorm:"column:hash"`
}

// KeyRanges implements publish.Ledger; the formulas are publish.Sums's.
func (l *Ledger) KeyRanges(ctx context.Context) (publish.Sums, error) {
	return l.sums(ctx, `SELECT left(kid, 2) AS part, count(*) AS count, max(revision) AS highest,
			bit_xor(('x' || left(md5(kid || ':' || revision), 16))::bit(64)::bigint) AS hash
		FROM api_keys GROUP BY 1`)
}

// PolicyRanges implements publish.Ledger.
func (l *Ledger) PolicyRanges(ctx context.Context) (publish.Sums, error) {
	return l.sums(ctx, `SELECT right(workspace_id::text, 2) AS part, count(*) AS count, max(revision) AS highest,
			bit_xor(('x' || left(md5(workspace_id::text || ':' || revision), 16))::bit(64)::bigint) AS hash
		FROM workspace_revisions WHERE revision > 0 GROUP BY 1`)
}

func (l *Ledger) sums(ctx context.Context, query string) (publish.Sums, error) {
	var rows []sumRow
	err := l.system.Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Raw(query).Scan(&rows).Error, "sum up what is published")
	})
	sums := make(publish.Sums, len(rows))
	for _, r := range rows {
		sums[r.Part] = publish.Sum{Count: r.Count, Highest: r.Highest, Hash: r.Hash}
	}
	return sums, err
}

// Keys implements publish.Ledger.
func (l *Ledger) Keys(ctx context.Context, part string) ([]policy.Key, error) {
	var rows []apiKeyRow
	err := l.system.Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Where("left(kid, 2) = ?", part).Find(&rows).Error, "read keys of a range")
	})
	return documentsOf(rows), err
}

// Policies implements publish.Ledger.
func (l *Ledger) Policies(ctx context.Context, part string) (map[id.Workspace]int64, error) {
	var rows []revisionRow
	err := l.system.Read(ctx, func(ctx context.Context) error {
		return translate(system(ctx).Where("revision > 0 AND right(workspace_id::text, 2) = ?", part).Find(&rows).Error,
			"read workspaces of a range")
	})
	list := make(map[id.Workspace]int64, len(rows))
	for _, r := range rows {
		list[id.FromUUID[id.WorkspaceKind](r.WorkspaceID)] = r.Revision
	}
	return list, err
}

var (
	_ publish.Compiler   = (*Compiler)(nil)
	_ effective.Policies = (*Compiler)(nil)
	_ publish.Ledger     = (*Ledger)(nil)
)
