package audit

import (
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/money"
)

// Diff collects the fields that changed.
type Diff []Change

// Text notes a text field.
func (d *Diff) Text(path, before, after string) {
	if before != after {
		*d = append(*d, Change{Path: path, Before: before, After: after})
	}
}

// List notes a list of texts.
func (d *Diff) List(path string, before, after []string) {
	d.Text(path, strings.Join(before, ", "), strings.Join(after, ", "))
}

// Bool notes a switch.
func (d *Diff) Bool(path string, before, after bool) {
	d.Text(path, strconv.FormatBool(before), strconv.FormatBool(after))
}

// Int notes a number.
func (d *Diff) Int(path string, before, after int) {
	d.Text(path, strconv.Itoa(before), strconv.Itoa(after))
}

// Count notes a number of which 0 is none.
func (d *Diff) Count(path string, before, after int64) { d.Number(path, given(before), given(after)) }

// Amount notes an amount in USD, of which 0 is none.
func (d *Diff) Amount(path string, before, after money.Nanos) {
	d.Text(path, amount(before), amount(after))
}

// Number notes a number that may be absent.
func (d *Diff) Number(path string, before, after *int64) {
	d.Text(path, number(before), number(after))
}

// Time notes a moment that may be absent.
func (d *Diff) Time(path string, before, after *time.Time) {
	d.Text(path, moment(before), moment(after))
}

// Secret notes that a secret was replaced, and nothing of it.
func (d *Diff) Secret(path string) {
	*d = append(*d, Change{Path: path, After: "changed"})
}

// given is nil for 0.
func given(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func amount(n money.Nanos) string {
	if n == 0 {
		return ""
	}
	return n.String()
}

func moment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
