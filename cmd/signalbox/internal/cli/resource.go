package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
)

// listAll is the command list of what has no filters; show tells what was found.
func listAll[T any](a *app, short string, show func(*table, []T),
	call func(ctx context.Context, api *client.ClientWithResponses, cursor *string, size int) (answer, error),
) *cobra.Command {
	c := &cobra.Command{Use: "list", Short: short, Args: cobra.NoArgs}
	limit := limitFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		api, err := a.management()
		if err != nil {
			return err
		}
		body, found, err := pages[T](*limit, func(cursor *string, size int) (answer, error) { return call(c.Context(), api, cursor, size) })
		if err != nil {
			return err
		}
		return a.showBody(body, func(t *table) { show(t, found) })
	}
	return c
}

// getOne is a command that shows the one thing that its argument names.
func getOne[T any](a *app, use, short string, find finder, show func(*table, T),
	call func(ctx context.Context, api *client.ClientWithResponses, id string) (answer, func() T, error),
) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, found, err := a.found(c.Context(), find, args[0])
			if err != nil {
				return err
			}
			r, one, err := call(c.Context(), api, found)
			if err := done(r, err); err != nil {
				return err
			}
			return a.show(r, func(t *table) { show(t, one()) })
		},
	}
}

// changeOne is a command that changes the one thing that its argument names and
// takes no input; show tells it afterwards.
func changeOne[T any](a *app, use, short string, find finder, show func(*table, T),
	call func(ctx context.Context, api *client.ClientWithResponses, id string, f *change) (answer, func() T, error),
) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	f := changeFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		api, found, err := a.found(c.Context(), find, args[0])
		if err != nil {
			return err
		}
		r, changed, err := call(c.Context(), api, found, f)
		if err := done(r, err); err != nil {
			return err
		}
		return a.show(r, func(t *table) { show(t, changed()) })
	}
	return c
}

// deleteOne is changeOne that takes the thing away, and tells its id.
func deleteOne(a *app, use, short string, find finder,
	call func(ctx context.Context, api *client.ClientWithResponses, id string, f *change) (answer, error),
) *cobra.Command {
	return changeOne(a, use, short, find, func(t *table, id string) { t.row("DELETED", id) },
		func(ctx context.Context, api *client.ClientWithResponses, id string, f *change) (answer, func() string, error) {
			r, err := call(ctx, api, id, f)
			return r, func() string { return id }, err
		})
}

// deletedTable tells what the API says of what was deleted.
func deletedTable(t *table, d client.Deleted) {
	t.row("ID", d.ID)
	t.row("DELETED", d.Deleted)
}
