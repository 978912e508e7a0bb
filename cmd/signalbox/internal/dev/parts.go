package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// parts are the planes that run. They do not end with the context that they
// were started under: the stack ends them one after the other, so that a gateway
// can still deliver its usage.
type parts struct {
	started *stack
	failed  chan error // the first part that ended by itself
}

func newParts(started *stack) *parts { return &parts{started: started, failed: make(chan error, 1)} }

// run runs a part, and has the stack end it and wait for its end.
func (p *parts) run(ctx context.Context, name string, part func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() {
		err := part(ctx)
		if ctx.Err() == nil { // it was not asked to
			if err == nil {
				err = errors.New("it ended by itself")
			}
			select {
			case p.failed <- fmt.Errorf("%s: %w", name, err):
			default: // another part was first
			}
		}
		ended <- err
	}()
	p.started.push(func() error {
		cancel()
		if err := <-ended; err != nil {
			return fmt.Errorf("stop the %s: %w", name, err)
		}
		return nil
	})
}

// await waits for something, and gives up when a part has ended.
func (p *parts) await(ctx context.Context, wait func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- wait(ctx) }()
	select {
	case err := <-waited:
		return err
	case err := <-p.failed:
		cancel()
		return cmp.Or(err, <-waited)
	}
}

// stack stops what was started, last first.
type stack struct{ stops []func() error }

func (s *stack) push(stop func() error) { s.stops = append(s.stops, stop) }

func (s *stack) stop() error {
	var problems []error
	for i := len(s.stops) - 1; i >= 0; i-- {
		problems = append(problems, s.stops[i]())
	}
	s.stops = nil
	return errors.Join(problems...)
}
