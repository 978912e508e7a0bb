// Package books owns the proof that what was counted agrees: the request log,
// the hourly totals, the totals of accounts, the entries of wallets, and what
// wallets hold. It only compares, and knows nothing of SQL.
package books

import (
	"context"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// Check is one comparison.
type Check string

// The comparisons.
const (
	LogHours       Check = "log_hours"       // the request log with the hourly totals
	LogDays        Check = "log_days"        // the request log with the daily totals of accounts
	HoursTotals    Check = "hours_totals"    // the hourly totals with the totals of accounts of all time
	HoursWallet    Check = "hours_wallet"    // the hourly totals with what wallets were charged
	EntriesWallet  Check = "entries_wallet"  // the entries of wallets with what wallets hold
	EntriesBalance Check = "entries_balance" // each entry of a wallet with the one before it
)

// Difference is a figure that the two sides of a comparison do not agree about.
type Difference struct {
	Workspace id.Workspace
	Check     Check
	Place     string // what of the workspace, such as an hour or an account
	Figure    string // such as cost_nanos
	Have      int64  // as the side that is named first says
	Want      int64  // as the other says
}

// Range is what is compared. The log is compared on whole UTC days, and only
// from when on it is kept; what has no days is compared always.
type Range struct {
	Workspace   id.Workspace // zero: all
	First, Last time.Time    // UTC days, both included
}

// Comparer compares everything of a range as of one moment, however busy the
// database is, and visits the differences as they are found.
type Comparer interface {
	Compare(ctx context.Context, r Range, visit func(Difference) error) error
}
