// Package stack runs a whole platform as processes: a private Postgres, a NATS
// server, a control plane and gateways from the built binaries. It is for what
// must be killed or measured from outside; tests that need neither use package
// harness.
package stack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/pgcluster"
	"github.com/signalbox-dev/signalbox/shared/secret/seal"
	"github.com/signalbox-dev/signalbox/test/harness/client"
	"github.com/signalbox-dev/signalbox/test/harness/loopback"
	"github.com/signalbox-dev/signalbox/test/harness/process"
)

// Options say what to run.
type Options struct {
	Bin      string // directory with controlplane and gateway; "make build" fills it
	Dir      string // for everything that is stored; empty at first
	Gateways int
	Catalog  string // catalog.yaml
	// GatewayEnv is added to the gateways' environment.
	GatewayEnv []string
}

// Stack is a running platform.
type Stack struct {
	client.Platform
	NATS         *process.Process
	ControlPlane *process.Process
	GatewayProcs []*process.Process

	options   Options
	postgres  *pgcluster.Cluster
	natsURL   string
	natsStore string
	keyring   string
}

const (
	operatorToken = "operator-token-of-the-test-platform"
	database      = "postgres"
	readyWithin   = time.Minute
	stopWithin    = 20 * time.Second
)

// Start runs everything and returns when all of it is ready. What started is
// stopped again when something fails.
func Start(ctx context.Context, o Options) (_ *Stack, err error) {
	if o.Bin, err = filepath.Abs(o.Bin); err != nil { // the programs run in directories of their own
		return nil, fmt.Errorf("find the binaries: %w", err)
	}
	s := &Stack{options: o, natsStore: filepath.Join(o.Dir, "nats"), keyring: filepath.Join(o.Dir, "keyring.json")}
	s.HTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	s.Operator = operatorToken
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := os.WriteFile(s.catalogFile(), []byte(s.options.Catalog), 0o600); err != nil {
		return fmt.Errorf("write the catalog: %w", err)
	}
	if _, err := seal.LoadOrCreateFile(s.keyring); err != nil {
		return fmt.Errorf("make the keyring: %w", err)
	}
	if err := s.StartPostgres(ctx); err != nil {
		return err
	}
	if err := s.startNATS(ctx); err != nil {
		return err
	}
	if err := s.startControlPlane(); err != nil {
		return err
	}
	if err := s.AwaitControlPlane(ctx); err != nil {
		return err
	}
	for range s.options.Gateways {
		if err := s.AddGateway(ctx, filepath.Join(s.options.Bin, "gateway")); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stack) catalogFile() string { return filepath.Join(s.options.Dir, "catalog.yaml") }

// StartPostgres starts the database server, also after StopPostgres.
func (s *Stack) StartPostgres(ctx context.Context) (err error) {
	if err := Reachable(s.options.Dir); err != nil {
		return err
	}
	s.postgres, err = pgcluster.Start(ctx, pgcluster.Options{DataDir: filepath.Join(s.options.Dir, "postgres"), Durable: true})
	return err
}

// StopPostgres stops the database server and keeps its data.
func (s *Stack) StopPostgres() error { return s.postgres.Stop() }

// DatabaseURL connects as the superuser.
func (s *Stack) DatabaseURL() string { return s.postgres.URL(database) }

func (s *Stack) startNATS(ctx context.Context) error {
	binary := filepath.Join(s.options.Dir, "natsd")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/signalbox-dev/signalbox/test/cmd/natsd")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build natsd: %w: %s", err, out)
	}
	addr, err := loopback.Free(ctx)
	if err != nil {
		return err
	}
	s.natsURL = "nats://" + addr
	s.NATS, err = process.Start(process.Spec{
		Name: "natsd", Path: binary, Args: []string{"-store", s.natsStore, "-listen", addr},
	})
	return err
}

// WipeNATS removes what NATS stored; NATS must be stopped.
func (s *Stack) WipeNATS() error {
	if err := os.RemoveAll(s.natsStore); err != nil {
		return fmt.Errorf("wipe nats: %w", err)
	}
	return nil
}

func (s *Stack) startControlPlane() error {
	addr, err := loopback.Free(context.Background())
	if err != nil {
		return err
	}
	s.Control = "http://" + addr
	s.ControlPlane, err = process.Start(process.Spec{
		Name: "controlplane", Path: filepath.Join(s.options.Bin, "controlplane"), Dir: s.options.Dir,
		Env: []string{
			"SIGNALBOX_LISTEN=" + addr, "SIGNALBOX_DATABASE_URL=" + s.DatabaseURL(), "SIGNALBOX_NATS_URL=" + s.natsURL,
			"SIGNALBOX_KEYRING_FILE=" + s.keyring, "SIGNALBOX_OPERATOR_TOKEN=" + operatorToken,
			"SIGNALBOX_CATALOG_FILES=" + s.catalogFile(),
		},
	})
	return err
}

// AwaitControlPlane waits until the control plane is ready.
func (s *Stack) AwaitControlPlane(ctx context.Context) error {
	return s.await(ctx, s.ControlPlane, s.Control)
}

// AddGateway starts one more gateway, from this binary, and waits for it.
func (s *Stack) AddGateway(ctx context.Context, binary string) error {
	addr, err := loopback.Free(ctx)
	if err != nil {
		return err
	}
	n := strconv.Itoa(len(s.GatewayProcs))
	dir := filepath.Join(s.options.Dir, "gateway-"+n)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the gateway's directory: %w", err)
	}
	p, err := process.Start(process.Spec{
		Name: "gateway " + n, Path: binary, Dir: dir,
		Env: append([]string{
			"SIGNALBOX_LISTEN=" + addr, "SIGNALBOX_DATA_DIR=" + dir, "SIGNALBOX_NATS_URL=" + s.natsURL,
			"SIGNALBOX_KEYRING_FILE=" + s.keyring,
		}, s.options.GatewayEnv...),
	})
	if err != nil {
		return err
	}
	s.GatewayProcs = append(s.GatewayProcs, p)
	s.Gateways = append(s.Gateways, "http://"+addr)
	return s.AwaitGateway(ctx, len(s.Gateways)-1)
}

// AwaitGateway waits until a gateway is ready.
func (s *Stack) AwaitGateway(ctx context.Context, i int) error {
	return s.await(ctx, s.GatewayProcs[i], s.Gateways[i])
}

// await waits until a program is ready, has ended or took too long.
func (s *Stack) await(ctx context.Context, p *process.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ready := make(chan error, 1)
	go func() { ready <- s.AwaitReady(ctx, url+"/readyz") }()
	var err error
	select {
	case err = <-ready:
	case <-p.Ended():
		cancel()
		err = errors.Join(errors.New("the program ended"), <-ready)
	}
	if err != nil {
		return fmt.Errorf("%w\n%s", err, p.Log())
	}
	return nil
}

// Stop ends everything, the servers last.
func (s *Stack) Stop() error {
	var failed error
	for _, p := range append(append([]*process.Process{}, s.GatewayProcs...), s.ControlPlane, s.NATS) {
		if p != nil {
			failed = errors.Join(failed, p.Stop(stopWithin))
		}
	}
	s.HTTP.CloseIdleConnections()
	if s.postgres != nil {
		failed = errors.Join(failed, s.postgres.Stop())
	}
	return failed
}

// Reachable opens a temporary folder, and those above it, to the user that
// Postgres runs as under root. In a closed one the cluster would move to the
// machine's state directory and stay there.
func Reachable(dir string) error {
	root := filepath.Clean(os.TempDir())
	for at := filepath.Clean(dir); strings.HasPrefix(at, root+string(filepath.Separator)); at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			return fmt.Errorf("open the temporary folder: %w", err)
		}
	}
	return nil
}
