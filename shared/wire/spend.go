package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/money"
)

// The counters of StreamSpend belong to an epoch: one filling of the stream
// from Postgres. The one whose mark has the lowest sequence of the stream
// counts, since it was complete first; without any the stream was not filled.
//
//	spend.epoch.<epoch>                                 the mark
//	spend.<epoch>.at.<gateway>                          the last sequence of the gateway's spool that is counted
//	spend.<epoch>.day.<YYYYMMDD>.<workspace>.<key>      a Spend: what the key used on that UTC day
//
// A week and a month are sums of days, so that a request is one increment.
const (
	SubjectSpendEpoch = SubjectSpend + ".epoch"
	spendAt           = ".at."
	spendDay          = ".day."
)

// SpendEpoch is the subject of an epoch's mark.
func SpendEpoch(epoch string) string { return SubjectSpendEpoch + "." + epoch }

// SpendAt is the subject of a gateway's position.
func SpendAt(epoch string, gw id.Gateway) string {
	return SubjectSpend + "." + epoch + spendAt + gw.String()
}

// SpendOn is the subject of what a key used on the UTC day of at.
func SpendOn(epoch string, at time.Time, ws id.Workspace, key id.Key) string {
	return SubjectSpend + "." + epoch + spendDay + spendDate(at) + "." + ws.String() + "." + key.String()
}

// SpendOfEpoch matches everything of an epoch but its mark.
func SpendOfEpoch(epoch string) string { return SubjectSpend + "." + epoch + ".>" }

// SpendOfDay matches what all keys used on the UTC day of at, in every epoch.
func SpendOfDay(at time.Time) string { return SubjectSpend + ".*" + spendDay + spendDate(at) + ".>" }

func spendDate(at time.Time) string { return at.UTC().Format("20060102") }

// SpendDays is for how many days before the present one days are kept: longer
// than a month and the week that it began in.
const SpendDays = 40

// Spend is an amount of usage: requests and what they cost.
type Spend struct {
	Requests int64
	Cost     money.Nanos
}

// Spend is what the event adds to the usage of its key: a request for the
// caller's first model and the cost of any, nothing for what the gateway
// refused. It counts on the day that is inside its ID.
func (e *UsageEvent) Spend() Spend {
	if e.Outcome == Refused {
		return Spend{}
	}
	s := Spend{Cost: max(e.Cost.Total, 0)}
	if e.ID == e.PrimaryID {
		s.Requests = 1
	}
	return s
}

// Add is s and o together, at most the largest amount.
func (s Spend) Add(o Spend) Spend {
	return Spend{Requests: int64(money.Nanos(s.Requests).Add(money.Nanos(o.Requests))), Cost: s.Cost.Add(o.Cost)}
}

// Max is the larger of s and o in each part: of two states of one counter,
// which only rises, the later.
func (s Spend) Max(o Spend) Spend {
	return Spend{Requests: max(s.Requests, o.Requests), Cost: max(s.Cost, o.Cost)}
}

// IsZero reports whether s is nothing.
func (s Spend) IsZero() bool { return s == Spend{} }

// spendDigits is how many decimals of a counter are its cost. A sum of costs
// does not reach that far before it is beyond what is ever read.
const spendDigits = 24

var spendUnit = new(big.Int).Exp(big.NewInt(10), big.NewInt(spendDigits), nil)

// Text is s as one number, requests × 10²⁴ + nano-USD, so that one counter
// holds both.
func (s Spend) Text() string {
	n := new(big.Int).Mul(big.NewInt(s.Requests), spendUnit)
	return n.Add(n, big.NewInt(int64(s.Cost))).String()
}

// ErrCounter says that a body is not that of a counter.
var ErrCounter = errors.New("body is not a counter")

// ParseSpend reads the body of a counter message that counts a Spend. What is
// beyond the range of an amount is the largest; less than nothing is nothing.
func ParseSpend(body []byte) (Spend, error) {
	text, err := counter(body)
	if err != nil {
		return Spend{}, err
	}
	if strings.HasPrefix(text, "-") {
		return Spend{}, nil
	}
	var s Spend
	cut := max(0, len(text)-spendDigits)
	if cut > 0 {
		s.Requests = amount(text[:cut])
	}
	s.Cost = money.Nanos(amount(text[cut:]))
	return s, nil
}

// amount is decimal digits as a number, at most the largest.
func amount(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// ParsePosition reads the body of a counter message that counts sequences.
func ParsePosition(body []byte) (uint64, error) {
	text, err := counter(body)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%w of a position", ErrCounter)
	}
	return n, nil
}

// counter is the number in the body of a counter message.
func counter(body []byte) (string, error) {
	var value struct {
		Val string `json:"val"`
	}
	if err := json.Unmarshal(body, &value); err != nil {
		return "", ErrCounter
	}
	digits := strings.TrimPrefix(value.Val, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", ErrCounter
	}
	return value.Val, nil
}
