package wire

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/shared/id"
)

// SubjectRateMark is the subject of the mark: a random number that names the
// epoch which the counters of StreamRate belong to, and that is lost together
// with them. It is increased by 0 while it is in use. Each other counter holds a
// whole minute of one subject.
//
//	rate.mark
//	rate.<epoch>.<workspace>.<subject>.<minute>       a RateMinute: what the subject used in that minute since 1970
const SubjectRateMark = SubjectRate + ".mark"

// A minute of a subject is counted in slots.
const (
	RateSlot  = 2 * time.Second
	RateSlots = int(time.Minute / RateSlot)
)

// MaxRateCount is the most that one gateway counts for a subject in a slot, so
// that the sum over 100 gateways stays within the slot's digits.
const MaxRateCount = 99_999_999

// RateIn is the subject of what a subject of a workspace, a token, used in a
// minute.
func RateIn(epoch uint64, ws id.Workspace, token string, minute int64) string {
	return SubjectRate + "." + strconv.FormatUint(epoch, 36) + "." + ws.String() + "." + token + "." + strconv.FormatInt(minute, 10)
}

// RateMinute is what a subject used in each slot of a minute.
type RateMinute [RateSlots]int64

// rateDigits are those of one slot in a counter: a sum over many gateways has
// room, and the whole minute is one number.
const rateDigits = 10

// Text is m as one number, the last slot in its last ten digits: what is added
// late in a minute, and stays with the counter, is short.
func (m *RateMinute) Text() string {
	var b []byte
	for i := range m {
		switch {
		case len(b) > 0:
			b = appendPadded(b, m[i])
		case m[i] != 0:
			b = strconv.AppendInt(b, m[i], 10)
		}
	}
	if len(b) == 0 {
		return "0"
	}
	return string(b)
}

// appendPadded writes n with all digits of a slot.
func appendPadded(b []byte, n int64) []byte {
	var digits [rateDigits]byte
	for i := rateDigits - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[:]...)
}

// ParseRate reads the value of a counter that counts a RateMinute. What is
// beyond the first slot is none of it; less than nothing is nothing.
func ParseRate(value string) (RateMinute, error) {
	var m RateMinute
	if digits := strings.TrimPrefix(value, "-"); digits == "" || strings.Trim(digits, "0123456789") != "" {
		return m, ErrCounter
	}
	if value[0] == '-' {
		return m, nil
	}
	for i := len(m) - 1; i >= 0 && value != ""; i-- {
		cut := max(0, len(value)-rateDigits)
		m[i] = amount(value[cut:])
		value = value[:cut]
	}
	return m, nil
}

// ParseRateBody reads the body of a counter message that counts a RateMinute.
func ParseRateBody(body []byte) (RateMinute, error) {
	text, err := counter(body)
	if err != nil {
		return RateMinute{}, err
	}
	return ParseRate(text)
}

// MaxRateEpoch is the largest number that a gateway makes an epoch of. Several
// may do so at once: the sum counts then.
const MaxRateEpoch = math.MaxUint32 << 16

// ParseRateEpoch reads the value of the mark; 0 is none yet.
func ParseRateEpoch(value string) (uint64, error) {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w of an epoch", ErrCounter)
	}
	return n, nil
}

// ParseRateMark reads the body of the mark's message.
func ParseRateMark(body []byte) (uint64, error) {
	text, err := counter(body)
	if err != nil {
		return 0, err
	}
	return ParseRateEpoch(text)
}
