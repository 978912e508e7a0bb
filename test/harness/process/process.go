// Package process runs the built binaries for tests that must kill them and
// for benchmarks that read their CPU time. It knows nothing of what they do.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Spec says what to run.
type Spec struct {
	Name string // for messages
	Path string
	Args []string
	Env  []string // added to a minimal environment
	Dir  string
}

// Process is a program that can be stopped, killed and started again.
type Process struct {
	spec Spec
	log  tail

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// Start runs the program.
func Start(spec Spec) (*Process, error) {
	p := &Process{spec: spec}
	if err := p.Restart(); err != nil {
		return nil, err
	}
	return p, nil
}

// Restart runs the program again after Stop or Kill.
func (p *Process) Restart() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(p.spec.Path, p.spec.Args...)
	cmd.Dir = p.spec.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + os.TempDir()}, p.spec.Env...)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	cmd.SysProcAttr = endWithParent()
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.spec.Name, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // how it ended is the test's business
	}()
	p.cmd, p.done = cmd, done
	return nil
}

// PID is the process id.
func (p *Process) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cmd.Process.Pid
}

// Ended is closed when the program has ended.
func (p *Process) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

// Kill ends the program with SIGKILL and waits for it.
func (p *Process) Kill() error { return p.end(syscall.SIGKILL, time.Minute) }

// Stop asks the program to end and waits up to d before it kills it; that it
// had to is an error.
func (p *Process) Stop(d time.Duration) error { return p.end(syscall.SIGTERM, d) }

func (p *Process) end(signal os.Signal, within time.Duration) error {
	p.mu.Lock()
	cmd, done := p.cmd, p.done
	p.mu.Unlock()
	if err := cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.spec.Name, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		_ = cmd.Process.Kill()
		<-done
		return fmt.Errorf("%s did not end within %s", p.spec.Name, within)
	}
}

// Log is the end of what the program wrote.
func (p *Process) Log() string { return p.log.String() }

// maxLog bounds what is kept of a program's output.
const maxLog = 256 << 10

// tail keeps the end of what was written.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(b)
	if over := t.buf.Len() - maxLog; over > 0 {
		t.buf.Next(over)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}
