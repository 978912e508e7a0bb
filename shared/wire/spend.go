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
//	spend.epoch.2.<epoch>                                  the mark
//	spend.epoch.begun.<epoch>                              says that a filling began, complete or not
//	spend.<epoch>.at.<gateway>                             the last sequence of the gateway's spool that is counted
//	spend.<epoch>.day.<YYYYMMDD>.<workspace>.<account>     a Spend: what the account took on that UTC day
//	spend.<epoch>.all.<workspace>.<account>                a Spend: what it took ever, for those of Account.Lifetime
//
// A week and a month are sums of days, so that a request is one increment. The
// mark has the version of what a Spend is as a number: who knows another one
// finds no mark.
const (
	subjectEpochs    = SubjectSpend + ".epoch."
	SubjectSpendMark = subjectEpochs + "2"
	spendBegun       = subjectEpochs + "begun."
	spendAt          = ".at."
	spendDay         = ".day."
	spendAll         = ".all."

	// SpendEpochs matches the marks of all epochs, of those that began and of
	// other versions too.
	SpendEpochs = subjectEpochs + ">"
)

// SpendEpoch is the subject of an epoch's mark.
func SpendEpoch(epoch string) string { return SubjectSpendMark + "." + epoch }

// SpendBegun is the subject that says that an epoch began to be filled.
func SpendBegun(epoch string) string { return spendBegun + epoch }

// SpendAt is the subject of a gateway's position.
func SpendAt(epoch string, gw id.Gateway) string {
	return SubjectSpend + "." + epoch + spendAt + gw.String()
}

// SpendOn is the subject of what an account took on the UTC day of at.
func SpendOn(epoch string, at time.Time, ws id.Workspace, a Account) string {
	return SubjectSpend + "." + epoch + spendDay + spendDate(at) + "." + ws.String() + "." + string(a)
}

// SpendEver is the subject of what an account took ever.
func SpendEver(epoch string, ws id.Workspace, a Account) string {
	return SubjectSpend + "." + epoch + spendAll + ws.String() + "." + string(a)
}

// SpendOfEpoch matches everything of an epoch but its marks.
func SpendOfEpoch(epoch string) string { return SubjectSpend + "." + epoch + ".>" }

// SpendOfDay matches what all accounts took on the UTC day of at, in every epoch.
func SpendOfDay(at time.Time) string { return SubjectSpend + ".*" + spendDay + spendDate(at) + ".>" }

func spendDate(at time.Time) string { return at.UTC().Format("20060102") }

// SpendDays is for how many days before the present one days are kept: longer
// than a month and the week that it began in.
const SpendDays = 40

// Spend is an amount of usage: requests and what they cost.
type Spend struct {
	Requests int64
	Cost     money.Nanos // all of it
	BYOK     money.Nanos // the part of Cost that the workspace's own credentials were charged for
}

// Counted is what of s counts toward a limit: Cost, without BYOK unless that is
// to count too.
func (s Spend) Counted(byok bool) money.Nanos {
	if byok {
		return s.Cost
	}
	return max(0, s.Cost-s.BYOK)
}

// Add is s and o together, at most the largest amount.
func (s Spend) Add(o Spend) Spend {
	return Spend{
		Requests: int64(money.Nanos(s.Requests).Add(money.Nanos(o.Requests))),
		Cost:     s.Cost.Add(o.Cost), BYOK: s.BYOK.Add(o.BYOK),
	}
}

// Less is s without o, nothing at least in each part.
func (s Spend) Less(o Spend) Spend {
	return Spend{Requests: max(0, s.Requests-o.Requests), Cost: max(0, s.Cost-o.Cost), BYOK: max(0, s.BYOK-o.BYOK)}
}

// Max is the larger of s and o in each part: of two states of one counter,
// which only rises, the later.
func (s Spend) Max(o Spend) Spend {
	return Spend{Requests: max(s.Requests, o.Requests), Cost: max(s.Cost, o.Cost), BYOK: max(s.BYOK, o.BYOK)}
}

// IsZero reports whether s is nothing.
func (s Spend) IsZero() bool { return s == Spend{} }

// spendDigits is how many decimals of a counter are a cost. A sum of costs does
// not reach that far before it is beyond what is ever read.
const spendDigits = 24

var spendUnit = new(big.Int).Exp(big.NewInt(10), big.NewInt(spendDigits), nil)

// Text is s as one number, requests × 10⁴⁸ + BYOK × 10²⁴ + cost, so that one
// counter holds all of it.
func (s Spend) Text() string {
	n := new(big.Int).Mul(big.NewInt(s.Requests), spendUnit)
	n.Mul(n.Add(n, big.NewInt(int64(s.BYOK))), spendUnit)
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
	rest, cost := lastDigits(text)
	rest, byok := lastDigits(rest)
	return Spend{Requests: amount(rest), Cost: money.Nanos(amount(cost)), BYOK: money.Nanos(amount(byok))}, nil
}

// lastDigits takes the digits of a cost off the end of text.
func lastDigits(text string) (rest, digits string) {
	cut := max(0, len(text)-spendDigits)
	return text[:cut], text[cut:]
}

// amount is decimal digits as a number, at most the largest.
func amount(digits string) int64 {
	if digits == "" {
		return 0
	}
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
