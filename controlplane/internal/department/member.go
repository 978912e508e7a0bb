package department

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/controlplane/internal/audit"
	"github.com/signalbox-dev/signalbox/controlplane/internal/deploy"
	"github.com/signalbox-dev/signalbox/controlplane/internal/page"
	"github.com/signalbox-dev/signalbox/controlplane/internal/publication"
	"github.com/signalbox-dev/signalbox/controlplane/internal/rule"
	"github.com/signalbox-dev/signalbox/controlplane/internal/txn"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// The bounds of memberships: they travel to the gateways with every change of
// the workspace, and a request is counted toward each department of its owner.
const (
	MaxMembers = 5_000 // of all departments of a workspace
	MaxOfUser  = 20    // departments of one member
)

// Position is what a member is in a department. It is for people.
type Position string

// The positions.
const (
	Ordinary Position = "member"
	Lead     Position = "lead"
)

// Membership is how a member of the workspace belongs to a department.
type Membership struct {
	Position Position
	// Override: what the member's own keys use counts toward this department
	// alone, else toward every one of the member. One at most has it.
	Override bool
}

// Member is one who belongs to a department.
type Member struct {
	Workspace  id.Workspace
	Department id.Department
	User       id.User
	Membership
	AddedAt time.Time
}

// Members lists who belongs to a department.
func (s *Service) Members(ctx context.Context, ws id.Workspace, department id.Department, q page.Query) (page.Result[Member], error) {
	return txn.Read(ctx, s.d.Runner, ws, func(ctx context.Context) (page.Result[Member], error) {
		if _, err := s.d.Store.Get(ctx, ws, department); err != nil {
			return page.Result[Member]{}, err
		}
		return s.d.Roster.List(ctx, ws, department, q)
	})
}

// PutMember lets user belong to a department as is says, in place of how they
// did before.
func (s *Service) PutMember(
	ctx context.Context, ws id.Workspace, by audit.By, department id.Department, user id.User, is Membership,
) (Member, publication.Publication, error) {
	if is.Position != Ordinary && is.Position != Lead {
		return Member{}, publication.Publication{}, fault.Invalid(fault.Violation{Path: "position", Code: rule.NotAllowed, Message: "must be member or lead"})
	}
	c := changeOf(by, "department.put_member", department)
	return deploy.Mutate(ctx, s.d.Mutator, ws, c, func(ctx context.Context, _ int64) (Member, error) {
		if _, err := s.d.Store.Get(ctx, ws, department); err != nil {
			return Member{}, err
		}
		if err := s.d.People.Bindable(ctx, ws, user); err != nil {
			return Member{}, err
		}
		memberships, err := s.d.Roster.Of(ctx, ws, user)
		if err != nil {
			return Member{}, err
		}
		m := Member{Workspace: ws, Department: department, User: user, Membership: is, AddedAt: s.now()}
		before, err := s.fits(ctx, memberships, m)
		if err != nil {
			return Member{}, err
		}
		if before != nil {
			m.AddedAt = before.AddedAt
		}
		c.Diff = memberDiff(user, before, &m)
		return m, s.d.Roster.Put(ctx, ws, m)
	})
}

// RemoveMember takes user out of a department.
func (s *Service) RemoveMember(ctx context.Context, ws id.Workspace, by audit.By, department id.Department, user id.User) (publication.Publication, error) {
	c := changeOf(by, "department.remove_member", department)
	return s.d.Mutator.Mutate(ctx, ws, c, func(ctx context.Context, _ int64) error {
		memberships, err := s.d.Roster.Of(ctx, ws, user)
		if err != nil {
			return err
		}
		c.Diff = memberDiff(user, in(memberships, department), nil)
		return s.d.Roster.Remove(ctx, ws, department, user)
	})
}

// fits returns how m is there already, nil for not at all. It refuses a second
// override of a user, and more members than there may be.
func (s *Service) fits(ctx context.Context, memberships []Member, m Member) (*Member, error) {
	for i := range memberships {
		if other := &memberships[i]; m.Override && other.Override && other.Department != m.Department {
			e := fault.Newf(fault.Conflict, "The member's keys count toward %s alone. Take that override away first.", other.Department)
			e.Violations = []fault.Violation{{Path: "override", Code: rule.InUse, Message: "the department " + other.Department.String() + " has it"}}
			return nil, e
		}
	}
	if before := in(memberships, m.Department); before != nil {
		return before, nil
	}
	if len(memberships) >= MaxOfUser {
		return nil, fault.Newf(fault.Conflict, "The member belongs to %d departments, which is the most.", len(memberships))
	}
	n, err := s.d.Roster.Count(ctx, m.Workspace)
	if err == nil && n >= MaxMembers {
		err = fault.Newf(fault.Conflict, "The departments of the workspace have %d members, which is the most.", n)
	}
	return nil, err
}

// in is the membership of a department, nil for none.
func in(memberships []Member, department id.Department) *Member {
	for i := range memberships {
		if memberships[i].Department == department {
			return &memberships[i]
		}
	}
	return nil
}

func memberDiff(user id.User, before, after *Member) []audit.Change {
	var d audit.Diff
	d.Text("members."+user.String(), before.text(), after.text())
	return d
}

// text tells a person what m is; "" for no membership.
func (m *Member) text() string {
	switch {
	case m == nil:
		return ""
	case m.Override:
		return string(m.Position) + ", override"
	}
	return string(m.Position)
}
