package cli

import (
	"github.com/spf13/cobra"
)

func configFlag(c *cobra.Command) *string {
	return c.Flags().String("config", "", "YAML file with the configuration; the environment goes over it")
}

func (a *app) controlPlane() *cobra.Command {
	c := &cobra.Command{Use: "controlplane", Short: "Run the control plane in this process", Args: cobra.NoArgs}
	config := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return a.Run.ControlPlane(c.Context(), *config) }
	return c
}

func (a *app) gateway() *cobra.Command {
	c := &cobra.Command{Use: "gateway", Short: "Run a gateway in this process", Args: cobra.NoArgs}
	config := configFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error { return a.Run.Gateway(c.Context(), *config) }
	return c
}

func (a *app) migrate() *cobra.Command {
	up := &cobra.Command{Use: "up", Short: "Apply the migrations that the database lacks", Args: cobra.NoArgs}
	upConfig := configFlag(up)
	up.RunE = func(c *cobra.Command, _ []string) error {
		return a.Run.Migrate(c.Context(), *upConfig, "up", a.Stdout)
	}
	status := &cobra.Command{Use: "status", Short: "Show which migrations the database has", Args: cobra.NoArgs}
	statusConfig := configFlag(status)
	status.RunE = func(c *cobra.Command, _ []string) error {
		return a.Run.Migrate(c.Context(), *statusConfig, "status", a.Stdout)
	}
	return group("migrate", "Bring the database's schema up to date", up, status)
}
