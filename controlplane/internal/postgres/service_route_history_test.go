package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"
	"pgregory.net/rapid"

	"github.com/signalbox-dev/signalbox/controlplane/internal/dynamicroute"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Rolling back walks through what was deployed as over a stack: a deployment
// lies upon the present one, and a rollback takes it off.
func TestRollbackWalksBack(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	const versions = 4
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		r := s.route(t, ws, operator, fmt.Sprint("route ", runs))
		defer func() {
			_, err := s.routes.Delete(t.Context(), ws, r.ID, operator, r.Name, nil)
			require.NoError(rt, err)
		}()
		for n := 2; n <= versions; n++ {
			s.save(t, r, straight(fmt.Sprint(n)))
		}
		var stack []int
		ever := map[int]bool{}
		for _, step := range rapid.SliceOfN(rapid.IntRange(0, versions), 0, 12).Draw(rt, "steps") {
			if step > 0 {
				out, err := s.routes.Deploy(t.Context(), ws, r.ID, step, operator, nil)
				require.NoError(rt, err)
				present := len(stack) > 0 && stack[len(stack)-1] == step
				require.Equal(rt, present, out.Unchanged)
				if !present {
					stack = append(stack, step)
				}
			} else {
				out, err := s.routes.Rollback(t.Context(), ws, r.ID, operator, nil)
				if len(stack) < 2 {
					require.Equal(rt, fault.Conflict, fault.CodeOf(err))
					continue
				}
				require.NoError(rt, err)
				stack = stack[:len(stack)-1]
				require.Equal(rt, stack[len(stack)-1], out.Version.Number)
			}
			ever[stack[len(stack)-1]] = true
			got, err := s.routes.Get(t.Context(), ws, r.ID)
			require.NoError(rt, err)
			require.Equal(rt, stack[len(stack)-1], got.Deployed)
			require.Equal(rt, want(versions, stack[len(stack)-1], ever), s.statuses(t, r))
		}
	})
}

// want are the statuses of versions, newest first.
func want(versions, deployed int, ever map[int]bool) (list []string) {
	for n := versions; n > 0; n-- {
		status := dynamicroute.Draft
		switch {
		case n == deployed:
			status = dynamicroute.Deployed
		case ever[n]:
			status = dynamicroute.Superseded
		}
		list = append(list, fmt.Sprintf("%d %s", n, status))
	}
	return list
}

// Rolling back twice after three deployments never goes to what was rolled
// back, and says in the log what happened.
func TestTheLogSaysWhatWasDeployed(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, by := created.Workspace.ID, byMember(created.Owner)
	r := s.route(t, ws, by, "a")
	s.save(t, r, straight("2"))
	s.save(t, r, straight("3"))
	for n := 1; n <= 3; n++ {
		_, err := s.routes.Deploy(t.Context(), ws, r.ID, n, by, nil)
		require.NoError(t, err)
	}
	for _, version := range []int{2, 1} {
		out, err := s.routes.Rollback(t.Context(), ws, r.ID, by, nil)
		require.NoError(t, err)
		require.Equal(t, version, out.Detail.Deployed)
		require.Equal(t, "route.rollback", s.lastEvent(t, ws).Action)
	}
	_, err := s.routes.Rollback(t.Context(), ws, r.ID, by, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err))
	var log []string
	in(t, s.db, ws, func(ctx context.Context) error {
		for n := 1; n <= 5; n++ {
			d, err := NewRouteDeploymentStore().Get(ctx, ws, r.ID, n)
			require.NoError(t, err)
			require.Equal(t, by.User, d.DeployedBy)
			log = append(log, fmt.Sprintf("version %d replaced %d beneath %d rollback %t rolled back %t", d.Version, d.Replaced, d.Beneath, d.Rollback, d.RolledBack))
		}
		return nil
	})
	require.Equal(t, []string{
		"version 1 replaced 0 beneath 0 rollback false rolled back false",
		"version 2 replaced 1 beneath 1 rollback false rolled back false",
		"version 3 replaced 2 beneath 2 rollback false rolled back true",
		"version 2 replaced 3 beneath 1 rollback true rolled back true",
		"version 1 replaced 4 beneath 0 rollback true rolled back false",
	}, log)
}

// The database itself refuses to change a version or an entry of the log,
// whoever asks.
func TestTheDatabaseKeepsVersionsAsTheyAre(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	s.save(t, r, straight("2"))
	s.deployed(t, r, 1)
	s.deployed(t, r, 2)
	_, err := s.routes.Rollback(t.Context(), ws, r.ID, operator, nil)
	require.NoError(t, err)
	before, err := s.routes.Version(t.Context(), ws, r.ID, 1)
	require.NoError(t, err)
	statements := map[string][]string{
		"dynamic_route_versions":    {"DELETE FROM dynamic_route_versions", "UPDATE dynamic_route_versions SET status = 'draft'"},
		"dynamic_route_deployments": {"DELETE FROM dynamic_route_deployments", "UPDATE dynamic_route_deployments SET rolled_back = false"},
	}
	// Of rows whose status could be set to what it is.
	for where, row := range map[string]any{"dynamic_route_versions status = 'deployed'": routeVersionRow{}, "dynamic_route_deployments rolled_back": routeDeploymentRow{}} {
		table, where, _ := strings.Cut(where, " ")
		for _, column := range columnsOf(row) {
			if column != "status" && column != "rolled_back" {
				statements[table] = append(statements[table], fmt.Sprintf("UPDATE %s SET %s = %s WHERE %s", table, column, another(column), where))
			}
		}
	}
	owner := s.db.DirectSQL()
	defer func() { require.NoError(t, owner.Close()) }()
	for table, list := range statements {
		for _, statement := range append(list, "TRUNCATE "+table+" CASCADE") {
			err := s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error { return tenant(ctx, ws).Exec(statement).Error })
			require.Error(t, err, "%s by the application", statement)
			tx, err := owner.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), "ALTER TABLE "+table+" NO FORCE ROW LEVEL SECURITY")
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), statement)
			require.ErrorContains(t, err, "never changes", "%s by the owner", statement)
			require.NoError(t, tx.Rollback())
		}
	}
	after, err := s.routes.Version(t.Context(), ws, r.ID, 1)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// another is a value that a column does not have in the test above.
func another(column string) string {
	switch column {
	case "workspace_id", "route_id", "created_by", "deployed_by":
		return "gen_random_uuid()"
	case "number", "version":
		return column + " + 7"
	case "parent", "replaced", "beneath":
		return "CASE WHEN " + column + " IS NULL THEN 1 END"
	case "rollback":
		return "NOT rollback"
	case "created_at", "deployed_at":
		return column + " + interval '1 s'"
	case "slots":
		return `'{"x":[]}'`
	default:
		return column + " || 'x'"
	}
}

// Changes that come at once are made one after the other: the same graph is one
// version, others get numbers without a gap, and of two that saw the same ETag
// one is told.
func TestChangesOfARouteAtOnce(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	r := s.route(t, ws, operator, "a")
	atOnce := func(n int, call func(i int) error) (errs []error) {
		errs = make([]error, n)
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { errs[i] = call(i) })
		}
		group.Wait()
		return errs
	}
	for _, err := range atOnce(4, func(int) error {
		_, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: straight("same")})
		return err
	}) {
		require.NoError(t, err)
	}
	require.Equal(t, []string{"2 draft", "1 draft"}, s.statuses(t, r))
	for _, err := range atOnce(4, func(i int) error {
		_, err := s.routes.Save(t.Context(), ws, r.ID, operator, dynamicroute.NewVersion{Config: straight(fmt.Sprint("other ", i))})
		return err
	}) {
		require.NoError(t, err)
	}
	require.Len(t, s.statuses(t, r), 6)

	present, err := s.routes.Get(t.Context(), ws, r.ID)
	require.NoError(t, err)
	var stale int
	for _, err := range atOnce(2, func(i int) error {
		_, err := s.routes.Deploy(t.Context(), ws, r.ID, i+1, operator, &present.Version)
		return err
	}) {
		if err != nil {
			require.Equal(t, fault.PreconditionFailed, fault.CodeOf(err))
			stale++
		}
	}
	require.Equal(t, 1, stale)
	for _, err := range atOnce(4, func(i int) error {
		_, err := s.routes.Deploy(t.Context(), ws, r.ID, i+3, operator, nil)
		return err
	}) {
		require.NoError(t, err)
	}
	for _, err := range atOnce(4, func(int) error { _, err := s.routes.Rollback(t.Context(), ws, r.ID, operator, nil); return err }) {
		require.NoError(t, err)
	}
	_, err = s.routes.Rollback(t.Context(), ws, r.ID, operator, nil)
	require.Equal(t, fault.Conflict, fault.CodeOf(err), "five were deployed and four rolled back")
	deployed := 0
	for _, status := range s.statuses(t, r) {
		if strings.HasSuffix(status, "deployed") {
			deployed++
		}
	}
	require.Equal(t, 1, deployed)
}

// Saving, deploying, rolling back and compiling ask the same questions with 10
// and with 10 000 versions, and each is answered from an index.
func TestManyVersionsCostNothing(t *testing.T) {
	s := openServices(t)
	ws := s.create(t, "acme").Workspace.ID
	few, many := s.route(t, ws, operator, "few"), s.route(t, ws, operator, "many")
	s.fill(t, few, 10)
	s.fill(t, many, 10_000)
	owner := s.db.DirectSQL()
	_, err := owner.ExecContext(t.Context(), "ANALYZE dynamic_route_versions")
	require.NoError(t, err)
	require.NoError(t, owner.Close())
	require.Equal(t, s.questions(t, few, 10), s.questions(t, many, 10_000))

	for what, q := range map[string]func(ctx context.Context) *gorm.DB{
		"one version": func(ctx context.Context) *gorm.DB { return routeVersions(ctx, ws, many.ID).Where("number = ?", 5000) },
		"its page": func(ctx context.Context) *gorm.DB {
			return routeVersions(ctx, ws, many.ID).Where("number < ?", 5000).Order("number DESC").Limit(51)
		},
	} {
		plan := s.plan(t, ws, q)
		require.Contains(t, plan, "dynamic_route_versions_pkey", what)
		require.NotContains(t, plan, "Sort", what)
		require.NotContains(t, plan, "Seq Scan", what)
	}
}

// fill adds versions up to n to a route that has one.
func (s *services) fill(t *testing.T, r dynamicroute.Route, n int) {
	t.Helper()
	in(t, s.db, r.Workspace, func(ctx context.Context) error {
		db := tenant(ctx, r.Workspace)
		require.NoError(t, db.Exec(`INSERT INTO dynamic_route_versions (workspace_id, route_id, number, graph, slots, digest, parent, note, created_at, status)
			SELECT workspace_id, route_id, i, graph, slots, 'digest ' || i, i - 1, note, created_at, 'draft'
			FROM dynamic_route_versions, generate_series(2, ?) i WHERE route_id = ? AND number = 1`, n, r.ID.UUID()).Error)
		return db.Exec("UPDATE dynamic_routes SET latest_version = ? WHERE id = ?", n, r.ID.UUID()).Error
	})
}

// questions counts the statements of each change of a route with n versions.
func (s *services) questions(t *testing.T, r dynamicroute.Route, n int) map[string]int64 {
	t.Helper()
	var count int64
	const name = "test:count"
	counting := func(*gorm.DB) { count++ }
	hooks := s.db.app.gorm.Callback()
	require.NoError(t, hooks.Query().Before("*").Register(name, counting))
	require.NoError(t, hooks.Row().Before("*").Register(name, counting))
	require.NoError(t, hooks.Raw().Before("*").Register(name, counting))
	require.NoError(t, hooks.Create().Before("*").Register(name, counting))
	require.NoError(t, hooks.Update().Before("*").Register(name, counting))
	defer func() {
		require.NoError(t, hooks.Query().Remove(name))
		require.NoError(t, hooks.Row().Remove(name))
		require.NoError(t, hooks.Raw().Remove(name))
		require.NoError(t, hooks.Create().Remove(name))
		require.NoError(t, hooks.Update().Remove(name))
	}()
	asked := make(map[string]int64)
	measure := func(what string, call func()) {
		count = 0
		call()
		require.NotZero(t, count, what)
		asked[what] = count
	}
	measure("save", func() { require.Equal(t, n+1, s.save(t, r, straight("new"))) })
	measure("save the same", func() {
		out, err := s.routes.Save(t.Context(), r.Workspace, r.ID, operator, dynamicroute.NewVersion{Config: straight("new")})
		require.NoError(t, err)
		require.True(t, out.Unchanged)
	})
	measure("first deployment", func() { s.deployed(t, r, n) })
	measure("deploy", func() { s.deployed(t, r, n+1) })
	measure("roll back", func() {
		_, err := s.routes.Rollback(t.Context(), r.Workspace, r.ID, operator, nil)
		require.NoError(t, err)
	})
	measure("compile", func() { s.snapshot(t, r.Workspace) })
	return asked
}

// plan is how Postgres would carry q out.
func (s *services) plan(t *testing.T, ws id.Workspace, q func(ctx context.Context) *gorm.DB) string {
	t.Helper()
	var lines []string
	require.NoError(t, s.db.Runner().Read(t.Context(), ws, func(ctx context.Context) error {
		dry := q(ctx).Session(&gorm.Session{DryRun: true}).Find(&[]map[string]any{})
		text := dry.Explain(dry.Statement.SQL.String(), dry.Statement.Vars...)
		return tenant(ctx, ws).Raw("EXPLAIN (COSTS OFF) " + text).Scan(&lines).Error
	}))
	return strings.Join(lines, "\n")
}
