// Package cli owns the command line: it turns arguments into calls of the
// management API and of a gateway, and their answers into tables, JSON or
// YAML. It knows nothing of how those are implemented; the commands that run a
// process get it as a function.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Deps are what the command line needs of the process that it runs in.
type Deps struct {
	Stdin  io.Reader // nil: nothing to read
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string
	// Dir is where the search for dev.json begins.
	Dir  string
	HTTP *http.Client
	// Wait lets a duration pass, unless ctx ends first; nil: on the process's clock.
	Wait    func(ctx context.Context, d time.Duration) error
	Version string
	Run     Processes
}

// Processes are the commands that run something in this process. Each reads
// the configuration file, "" for environment and defaults alone, and returns
// when ctx ends.
type Processes struct {
	ControlPlane func(ctx context.Context, configFile string) error
	Gateway      func(ctx context.Context, configFile string) error
	// Migrate does what action says (up or status) and writes what it did.
	Migrate func(ctx context.Context, configFile, action string, out io.Writer) error
	// Reconcile compares what was counted, and shows each difference.
	Reconcile func(ctx context.Context, configFile string, b Books, show func(Difference) error) error
}

// app is one invocation.
type app struct {
	Deps
	controlURL string
	gatewayURL string
	output     string
}

// New returns the root command with every command below it, and with extra
// ones that other packages own.
func New(d Deps, extra ...*cobra.Command) *cobra.Command {
	a := &app{Deps: d}
	if a.Wait == nil {
		a.Wait = wait
	}
	root := &cobra.Command{
		Use:   "signalbox",
		Short: "Run and manage the Signalbox inference gateway",
		Long: `Run and manage the Signalbox inference gateway.

Where the control plane and the gateway are, and which credential is used, comes from the flags, else from the
environment, else from the dev.json that "signalbox dev" writes, found in .signalbox of this directory or of one
above it. Credentials are never given on a command line:

  SIGNALBOX_CONTROL_URL                          the control plane
  SIGNALBOX_GATEWAY_URL                          the gateway, for models
  SIGNALBOX_MANAGEMENT_KEY, …_KEY_FILE           a management key, or a file that holds it
  SIGNALBOX_OPERATOR_TOKEN, …_TOKEN_FILE         the operator token, for what operators do
  SIGNALBOX_API_KEY, …_KEY_FILE                  an API key, for models`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       d.Version,
		Args:          cobra.NoArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return oneOf("--output", a.output, "table", "json", "yaml")
		},
	}
	root.SetIn(d.Stdin)
	root.SetOut(d.Stdout)
	root.SetErr(d.Stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	flags := root.PersistentFlags()
	flags.StringVar(&a.controlURL, "control-url", "", "URL of the control plane")
	flags.StringVar(&a.gatewayURL, "gateway-url", "", "URL of a gateway")
	flags.StringVarP(&a.output, "output", "o", "table", "how to show the answer: table, json or yaml")
	root.AddCommand(
		a.whoami(), a.workspaces(), a.keys(), a.managementKeys(), a.byok(), a.webhooks(), a.alerts(), a.settings(),
		a.profiles(), a.routes(), a.departments(), a.guardrails(), a.rateLimits(), a.budgets(), a.departmentBudgets(), a.presets(), a.auto(), a.models(), a.health(),
		a.logs(), a.explain(), a.preview(), a.usage(), a.credits(), a.audit(), a.publications(), a.gateways(),
		a.platform(), a.controlPlane(), a.gateway(), a.migrate(), a.reconcile(), a.keyring(), a.version(),
	)
	root.AddCommand(extra...)
	wrapArgs(root)
	return root
}

// Execute runs the command that args name and returns the exit code. A
// failure is told on Stderr in one line, and in another how to go on.
func Execute(ctx context.Context, d Deps, args []string, extra ...*cobra.Command) int {
	root := New(d, extra...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if err != nil && code != ExitInterrupted {
		_, _ = fmt.Fprintln(d.Stderr, "signalbox:", err)
		var usage usageError
		if errors.As(err, &usage) || code == ExitUsage && isCobra(err) {
			_, _ = fmt.Fprintln(d.Stderr, `Try "signalbox --help", or --help after a command.`)
		}
	}
	if call, ok := errors.AsType[unanswered](err); ok {
		_, _ = fmt.Fprintln(d.Stderr, "It may have been carried out: look whether it was. Sent again as it was it is not carried out twice with --idempotency-key", call.key)
	}
	return code
}

// wrapArgs makes wrong arguments usage errors, like wrong flags.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			if err == nil {
				return nil
			}
			return usageError{suggest(c, args, err)}
		}
	}
	for _, child := range c.Commands() {
		wrapArgs(child)
	}
}

// suggest names the commands that a mistyped one is like.
func suggest(c *cobra.Command, args []string, err error) error {
	if len(args) == 0 {
		return err
	}
	c.SuggestionsMinimumDistance = 2
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
	}
	return err
}

// group is a command that only holds others.
func group(use, short string, children ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(children...)
	return c
}

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, "signalbox", a.Version)
			return err
		},
	}
}
