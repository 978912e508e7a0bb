package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

func (a *app) publications() *cobra.Command {
	list := &cobra.Command{Use: "list", Short: "List publications, newest first", Args: cobra.NoArgs}
	limit := limitFlag(list)
	list.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body, found, err := pages[client.Publication](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListPublicationsWithResponse(c.Context(), &client.ListPublicationsParams{Cursor: cursor, Limit: &size})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("ID", "REVISION", "CHANGES", "CREATED", "PUBLISHED", "APPLIED", "PENDING")
			for _, p := range found {
				t.row(p.ID, p.Revision, strings.Join(p.Changes, ","), p.CreatedAt, p.PublishedAt,
					fmt.Sprintf("%d/%d", p.Receipts.Applied, p.Receipts.Gateways), p.Receipts.Pending)
			}
		})
	}
	get := &cobra.Command{
		Use: "get PUBLICATION_ID", Short: "Show a publication and its receipts", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.GetPublicationWithResponse(c.Context(), args[0])
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { publicationTable(t, r.JSON200.Data) })
		},
	}
	return group("publications", "Follow changes on their way to the gateways", list, get)
}

func publicationTable(t *table, p client.Publication) {
	t.row("ID", p.ID)
	t.row("REVISION", p.Revision)
	t.row("CHANGES", strings.Join(p.Changes, ","))
	t.row("CREATED", p.CreatedAt)
	t.row("PUBLISHED", p.PublishedAt)
	t.row("APPLIED BY", fmt.Sprintf("%d of %d gateways", p.Receipts.Applied, p.Receipts.Gateways))
	t.row("LATENCY", fmt.Sprintf("p50 %.0f ms, p99 %.0f ms", p.Receipts.P50Ms, p.Receipts.P99Ms))
	for _, g := range p.Receipts.PendingGateways {
		t.row("PENDING", g)
	}
}

func (a *app) gateways() *cobra.Command {
	return &cobra.Command{
		Use: "gateways", Short: "List the gateways and what they serve", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := api.ListGatewaysWithResponse(c.Context())
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) {
				t.row("ID", "STATE", "ADDRESS", "VERSION", "CATALOG", "SPOOL", "STALE", "LAST SEEN", "STARTED")
				for _, g := range r.JSON200.Data {
					t.row(g.ID, g.State, g.Address, g.Version, g.CatalogRevision, g.SpoolPending, g.Stale, g.LastSeenAt, g.StartedAt)
				}
			})
		},
	}
}

func (a *app) audit() *cobra.Command {
	c := &cobra.Command{Use: "audit", Short: "List who changed what, newest first", Args: cobra.NoArgs}
	limit := limitFlag(c)
	action := c.Flags().String("action", "", "only this action, such as key.create")
	targetType := c.Flags().String("target-type", "", "only things of this type, such as key")
	targetID := c.Flags().String("target-id", "", "only this thing")
	actor := c.Flags().String("actor-id", "", "only what this management key or user did")
	span := spanFlags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		since, until, err := span.times()
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		body, events, err := pages[client.AuditEvent](*limit, func(cursor *string, size int) (answer, error) {
			return api.ListAuditEventsWithResponse(c.Context(), &client.ListAuditEventsParams{
				Cursor: cursor, Limit: &size, Action: optional(*action), TargetType: optional(*targetType),
				TargetID: optional(*targetID), ActorID: optional(*actor), Since: since, Until: until,
			})
		})
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) {
			t.row("AT", "ACTOR", "ACTION", "TARGET", "CHANGES")
			for _, e := range events {
				t.row(e.At, actorName(e.Actor), e.Action, e.TargetID, differences(e.Diff))
			}
		})
	}
	return c
}

func actorName(actor client.Actor) string {
	if actor.Name != nil {
		return *actor.Name
	}
	return string(actor.Kind)
}

func differences(diff []client.FieldChange) string {
	parts := make([]string, len(diff))
	for i, d := range diff {
		parts[i] = fmt.Sprintf("%s: %s → %s", d.Path, clean(d.Before), clean(d.After))
	}
	return strings.Join(parts, "; ")
}
