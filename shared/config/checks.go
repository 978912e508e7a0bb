package config

import (
	"errors"
	"fmt"
	"net"
	"time"
)

// Checks gathers what is wrong with settings, by their keys. The zero value is
// ready; Validate methods of settings fill one.
type Checks struct{ errs []error }

// Want notes that a setting must be otherwise, unless ok.
func (c *Checks) Want(ok bool, key, want string) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf("%s: want %s", key, want))
	}
}

// Address wants host:port.
func (c *Checks) Address(key, value string) {
	_, _, err := net.SplitHostPort(value)
	c.Want(err == nil, key, "host:port, such as 127.0.0.1:8080 or :8080")
}

// Positive wants a duration above zero.
func (c *Checks) Positive(key string, d time.Duration) { c.Want(d > 0, key, "a positive duration") }

// Under notes what is wrong with the settings below key.
func (c *Checks) Under(key string, err error) {
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %w", key, err))
	}
}

// Err is everything that was noted, nil when nothing was.
func (c *Checks) Err() error { return errors.Join(c.errs...) }
