package simulator

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is what is wrong with a reply. The zero value is a good reply.
type Fault struct {
	Status     int           // instead of 200, with the format's error envelope
	RetryAfter int           // seconds, sent with Status
	Latency    time.Duration // before the head
	Reset      bool          // reset the connection before any byte
	Hang       bool          // no byte, until the caller goes
	HangAfter  int           // stream: silent after this many content events; 0 off
	Trickle    bool          // one byte a write
	Split      int           // this many bytes a write; 0 off
	Pause      time.Duration // between the bytes of Trickle
	CutAfter   int           // end the connection after this many content events; 0 off
	Garbage    bool          // a 200 whose body is not of the format
	Malformed  int           // stream: an unreadable event after this many content events; 0 off
	ErrorFirst bool          // stream: the first event is an error
	ErrorMid   bool          // stream: an error event after two content events
	NoUsage    bool
	NoDone     bool // stream: no terminal marker
	HTML       bool
	Encoding   string // gzip, br, zstd or deflate, whatever was accepted
	Redirect   bool
	Short      bool   // Content-Length lies
	Stale      bool   // re-used connections are closed without a byte
	CRLF       bool   // stream: lines end in CR LF
	NoSpace    bool   // stream: no space after "data:"
	Comments   bool   // stream: a comment before each event
	LongKiB    int    // reply text of this size in one event
	Early      bool   // 103 Early Hints before the head
	Trailer    bool   // trailers after the body
	WrongType  bool   // a Content-Type that is not the body's
	GoAway     bool   // end the connection after the answer: GOAWAY over HTTP/2
	FailJob    bool   // a job ends as failed
	Trouble    string // quota, context, policy or auth, in the provider's own words
	TPS        float64
	Times      int // misbehave this many times for a model, then be good; 0 always
}

const faultMark = "fault-"

// FaultOf returns the fault that a model name asks for; ok is false when it
// asks for none.
func FaultOf(model string) (f Fault, ok bool, err error) {
	terms, ok := faultTerms(model)
	if !ok {
		return Fault{}, false, nil
	}
	f, err = ParseFault(terms)
	return f, true, err
}

func faultTerms(model string) (string, bool) {
	at := strings.LastIndex(model, faultMark)
	if at < 0 || (at > 0 && model[at-1] != '-' && model[at-1] != '/') {
		return "", false
	}
	return model[at+len(faultMark):], true
}

// ParseFault reads terms in the grammar of the package comment, joined by
// dashes or commas.
func ParseFault(terms string) (Fault, error) {
	words := strings.FieldsFunc(terms, func(r rune) bool { return r == '-' || r == ',' || r == ' ' })
	if len(words) == 0 {
		return Fault{}, fmt.Errorf("a fault needs at least one term, such as status-503")
	}
	var f Fault
	for len(words) > 0 {
		rest, err := f.take(words)
		if err != nil {
			return Fault{}, err
		}
		words = rest
	}
	return f, nil
}

// take reads one term from the front of words.
func (f *Fault) take(words []string) ([]string, error) {
	term, rest := words[0], words[1:]
	if flag := f.flag(term); flag != nil {
		*flag = true
		return rest, nil
	}
	if text := f.text(term); text != nil {
		*text = term
		return rest, nil
	}
	if number := f.number(term); number != nil {
		if len(rest) == 0 {
			return nil, fmt.Errorf("the fault term %q needs a number, such as %s-3", term, term)
		}
		n, err := strconv.Atoi(rest[0])
		if err != nil || n < 0 || n > maxNumber {
			return nil, fmt.Errorf("the fault term %q needs a number from 0 to %d", term, maxNumber)
		}
		*number = n
		return rest[1:], f.check(term)
	}
	return f.takeSpecial(term, rest)
}

const maxNumber = 1 << 20

func (f *Fault) check(term string) error {
	if term == "status" && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("the fault term status needs a number from 200 to 599")
	}
	return nil
}

func (f *Fault) flag(term string) *bool {
	return map[string]*bool{
		"reset": &f.Reset, "garbage": &f.Garbage, "html": &f.HTML, "redirect": &f.Redirect,
		"short": &f.Short, "stale": &f.Stale, "crlf": &f.CRLF, "nospace": &f.NoSpace, "comments": &f.Comments,
		"early": &f.Early, "trailer": &f.Trailer, "wrongtype": &f.WrongType, "goaway": &f.GoAway, "failjob": &f.FailJob,
	}[term]
}

// text is where a term is kept that is one of several.
func (f *Fault) text(term string) *string {
	switch term {
	case "gzip", "br", "zstd", "deflate":
		return &f.Encoding
	case string(troubleQuota), string(troubleContext), string(troublePolicy), string(troubleAuth):
		return &f.Trouble
	}
	return nil
}

func (f *Fault) number(term string) *int {
	return map[string]*int{
		"status": &f.Status, "retry": &f.RetryAfter, "malformed": &f.Malformed, "long": &f.LongKiB, "times": &f.Times,
		"split": &f.Split,
	}[term]
}

// takeSpecial reads the terms whose argument is optional, a word or not a
// whole number.
func (f *Fault) takeSpecial(term string, rest []string) ([]string, error) {
	next := ""
	if len(rest) > 0 {
		next = rest[0]
	}
	switch term {
	case "latency":
		d, err := time.ParseDuration(next)
		if err != nil || d < 0 {
			return nil, fmt.Errorf("the fault term latency needs a duration, such as latency-200ms")
		}
		f.Latency = d
		return rest[1:], nil
	case "tps":
		rate, err := strconv.ParseFloat(next, 64)
		if err != nil || rate <= 0 {
			return nil, fmt.Errorf("the fault term tps needs a positive rate, such as tps-20")
		}
		f.TPS = rate
		return rest[1:], nil
	case "hang":
		if n, err := strconv.Atoi(next); err == nil && n > 0 {
			f.HangAfter = n
			return rest[1:], nil
		}
		f.Hang = true
		return rest, nil
	case "cut":
		if n, err := strconv.Atoi(next); err == nil && n > 0 {
			f.CutAfter = n
			return rest[1:], nil
		}
		f.CutAfter = 1
		return rest, nil
	case "trickle":
		f.Trickle = true
		if d, err := time.ParseDuration(next); err == nil && d > 0 {
			f.Pause = d
			return rest[1:], nil
		}
		return rest, nil
	}
	return f.takePair(term, next, rest)
}

// takePair reads the terms of two words.
func (f *Fault) takePair(term, next string, rest []string) ([]string, error) {
	flag := map[string]*bool{
		"error-first": &f.ErrorFirst, "error-mid": &f.ErrorMid, "no-usage": &f.NoUsage, "no-done": &f.NoDone,
	}[term+"-"+next]
	if flag == nil {
		return nil, fmt.Errorf("unknown fault term %q", term)
	}
	*flag = true
	return rest[1:], nil
}
