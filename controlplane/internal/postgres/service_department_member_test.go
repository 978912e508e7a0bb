package postgres

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/department"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/workspace"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// join adds a member to a workspace.
func (s *services) join(t *testing.T, ws id.Workspace) id.User {
	t.Helper()
	user := id.New[id.UserKind](testIDs)
	m := workspace.Member{Workspace: ws, User: user, Email: user.String() + "@example.com", Name: "Bo", Role: workspace.Ordinary, CreatedAt: epoch}
	in(t, s.db, ws, func(ctx context.Context) error {
		person, member := userRowOf(m), memberRowOf(m)
		if err := tenant(ctx, ws).Create(&person).Error; err != nil {
			return err
		}
		return tenant(ctx, ws).Create(&member).Error
	})
	return user
}

func (s *services) department(t *testing.T, ws id.Workspace, name string) department.Department {
	t.Helper()
	d, _, err := s.departments.Create(t.Context(), ws, operator, department.Draft{Name: name})
	require.NoError(t, err)
	return d
}

var (
	ordinary   = department.Membership{Position: department.Ordinary}
	overriding = department.Membership{Position: department.Ordinary, Override: true}
)

func TestDepartmentMembers(t *testing.T) {
	s := openServices(t)
	created, theirs := s.create(t, "acme"), s.create(t, "theirs")
	ws, first := created.Workspace.ID, created.Owner.User
	second := s.join(t, ws)
	a, b := s.department(t, ws, "a"), s.department(t, ws, "b")
	put := func(d department.Department, user id.User, is department.Membership) department.Member {
		t.Helper()
		m, _, err := s.departments.PutMember(t.Context(), ws, operator, d.ID, user, is)
		require.NoError(t, err)
		return m
	}
	m, pub, err := s.departments.PutMember(t.Context(), ws, operator, a.ID, first, ordinary)
	require.NoError(t, err)
	require.Equal(t, department.Member{Workspace: ws, Department: a.ID, User: first, Membership: ordinary, AddedAt: m.AddedAt}, m)
	require.Equal(t, []string{"department.put_member"}, s.stored(t, pub).Changes)
	require.Equal(t, []audit.Change{{Path: "members." + first.String(), After: "member"}}, s.lastEvent(t, ws).Diff)
	require.Equal(t, []policy.Membership{{User: first, Departments: []id.Department{a.ID}}}, s.snapshot(t, ws).Members)
	require.Nil(t, s.snapshot(t, ws).Limits)

	put(b, first, department.Membership{Position: department.Lead})
	put(b, second, ordinary)
	both := []id.Department{a.ID, b.ID}
	slices.SortFunc(both, func(x, y id.Department) int { return slices.Compare(bytesOf(x), bytesOf(y)) })
	require.Equal(t, []policy.Membership{{User: first, Departments: both}, {User: second, Departments: []id.Department{b.ID}}}, s.snapshot(t, ws).Members)

	// With an override its department counts alone, whatever its place among them.
	s.clock.advance(time.Hour)
	for _, d := range both {
		over := department.Membership{Position: department.Lead, Override: true}
		after, _, err := s.departments.PutMember(t.Context(), ws, operator, d, first, over)
		require.NoError(t, err)
		require.Equal(t, over, after.Membership)
		require.Equal(t, m.AddedAt, after.AddedAt, "it was a member before")
		require.Equal(t, []id.Department{d}, s.snapshot(t, ws).Members[0].Departments)
		require.Contains(t, s.lastEvent(t, ws).Diff[0].After, "lead, override")
		other := both[0]
		if other == d {
			other = both[1]
		}
		_, _, err = s.departments.PutMember(t.Context(), ws, operator, other, first, overriding)
		require.True(t, fault.Is(err, fault.Conflict), "%v", err)
		require.Equal(t, fault.Violation{Path: "override", Code: "in_use", Message: "the department " + d.String() + " has it"}, fault.Of(err).Violations[0])
		_, _, err = s.departments.PutMember(t.Context(), ws, operator, d, first, over)
		require.NoError(t, err, "it has it itself")
		_, _, err = s.departments.PutMember(t.Context(), ws, operator, d, first, ordinary)
		require.NoError(t, err)
	}
	twice := func(ctx context.Context) error {
		for _, d := range both {
			if err := NewDepartmentRoster().Put(ctx, ws, department.Member{Workspace: ws, Department: d, User: first, Membership: overriding, AddedAt: epoch}); err != nil {
				return err
			}
		}
		return nil
	}
	require.True(t, fault.Is(s.db.Runner().InTx(t.Context(), ws, twice), fault.Conflict), "the database holds it too")

	list, err := s.departments.Members(t.Context(), ws, b.ID, page.Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, second, list.Items[0].User, "newest first")
	list, err = s.departments.Members(t.Context(), ws, b.ID, page.Query{Limit: 1, Cursor: list.Next})
	require.NoError(t, err)
	require.Equal(t, first, list.Items[0].User)
	require.Empty(t, list.Next)

	for name, call := range map[string]func() error{
		"a department of nobody": func() error {
			_, _, err := s.departments.PutMember(t.Context(), ws, operator, id.New[id.DepartmentKind](testIDs), first, ordinary)
			return err
		},
		"who is no member": func() error {
			_, _, err := s.departments.PutMember(t.Context(), ws, operator, a.ID, theirs.Owner.User, ordinary)
			return err
		},
		"who is not in it": func() error {
			_, err := s.departments.RemoveMember(t.Context(), ws, operator, a.ID, second)
			return err
		},
		"the members of none": func() error {
			_, err := s.departments.Members(t.Context(), theirs.Workspace.ID, a.ID, page.Query{})
			return err
		},
	} {
		require.True(t, fault.Is(call(), fault.NotFound), name)
	}
	_, _, err = s.departments.PutMember(t.Context(), ws, operator, a.ID, second, department.Membership{Position: "boss"})
	require.True(t, fault.Is(err, fault.ValidationError))

	// It keeps its members until each is taken out.
	_, err = s.departments.Delete(t.Context(), ws, b.ID, operator, nil)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Len(t, fault.Of(err).Violations, 2)
	require.Contains(t, fault.Of(err).Message, "the member "+first.String())
	require.True(t, fault.Is(s.db.Runner().InTx(t.Context(), ws, func(ctx context.Context) error {
		return NewDepartmentStore().Delete(ctx, ws, b.ID)
	}), fault.Conflict), "the database holds it too")
	for _, user := range []id.User{first, second} {
		_, err = s.departments.RemoveMember(t.Context(), ws, operator, b.ID, user)
		require.NoError(t, err)
		require.Equal(t, []audit.Change{{Path: "members." + user.String(), Before: map[id.User]string{first: "member", second: "member"}[user]}}, s.lastEvent(t, ws).Diff)
	}
	_, err = s.departments.Delete(t.Context(), ws, b.ID, operator, nil)
	require.NoError(t, err)
	require.Equal(t, []policy.Membership{{User: first, Departments: []id.Department{a.ID}}}, s.snapshot(t, ws).Members)
}

func bytesOf(d id.Department) []byte {
	u := d.UUID()
	return u[:]
}

// A request is counted toward every department of its owner, so those are
// bounded, as is what travels with a workspace.
func TestDepartmentMembersAreBounded(t *testing.T) {
	s := openServices(t)
	created := s.create(t, "acme")
	ws, owner := created.Workspace.ID, created.Owner.User
	for i := range department.MaxOfUser {
		_, _, err := s.departments.PutMember(t.Context(), ws, operator, s.department(t, ws, fmt.Sprint("d", i)).ID, owner, ordinary)
		require.NoError(t, err)
	}
	_, _, err := s.departments.PutMember(t.Context(), ws, operator, s.department(t, ws, "one more").ID, owner, ordinary)
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)

	full := s.department(t, ws, "full")
	in(t, s.db, ws, func(ctx context.Context) error {
		for _, statement := range []string{
			`CREATE TEMPORARY TABLE many ON COMMIT DROP AS SELECT gen_random_uuid() AS id, n FROM generate_series(@in + 1, @most) n`,
			`INSERT INTO users SELECT id, id || '@example.com', 'Bo', now() FROM many`,
			`INSERT INTO members SELECT @ws, id, 'member', now() FROM many`,
			`INSERT INTO department_members SELECT @ws, @full, id, 'member', false, now() FROM many`,
		} {
			err := tenant(ctx, ws).Exec(statement, map[string]any{
				"ws": ws.UUID(), "full": full.ID.UUID(), "in": department.MaxOfUser, "most": department.MaxMembers,
			}).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
	_, _, err = s.departments.PutMember(t.Context(), ws, operator, full.ID, s.join(t, ws), ordinary)
	require.True(t, fault.Is(err, fault.Conflict))
	require.Contains(t, fault.Of(err).Message, "5000 members")
	_, _, err = s.departments.PutMember(t.Context(), ws, operator, full.ID, someIn(t, s, full), department.Membership{Position: department.Lead})
	require.NoError(t, err, "who is in it may be changed")
}

func someIn(t *testing.T, s *services, d department.Department) id.User {
	t.Helper()
	found, err := s.departments.Members(t.Context(), d.Workspace, d.ID, page.Query{Limit: 1})
	require.NoError(t, err)
	return found.Items[0].User
}
