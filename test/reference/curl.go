package reference

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// Request is what a curl line of a page sends.
type Request struct {
	Line   int // of the page
	Method string
	URL    string
	Header http.Header
	Body   string
	Status int // that the page promises; 200 when it says nothing
}

var promise = regexp.MustCompile(`^# answers (\d+)`)

// Requests reads the curl lines of a block. A line with an ellipsis is not
// meant to be run. Variables are taken from getenv; a curl flag that a reader
// of HTTP cannot follow is an error.
func Requests(b Block, getenv func(string) string) ([]Request, error) {
	var found []Request
	status := http.StatusOK
	lines := strings.Split(b.Text, "\n")
	for i := 0; i < len(lines); i++ {
		if m := promise.FindStringSubmatch(lines[i]); m != nil {
			status, _ = strconv.Atoi(m[1]) // only digits matched
			continue
		}
		if !strings.HasPrefix(lines[i], "curl ") {
			continue
		}
		first, command := i, lines[i]
		for i+1 < len(lines) && (strings.HasSuffix(command, `\`) || strings.Count(command, "'")%2 == 1) {
			i++
			command += "\n" + lines[i]
		}
		if strings.Contains(command, "…") {
			continue
		}
		words, err := shellWords(command, getenv)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", b.Line+first, err)
		}
		r, err := curl(words[1:])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", b.Line+first, err)
		}
		r.Line, r.Status = b.Line+first, status
		status = http.StatusOK
		found = append(found, r)
	}
	return found, nil
}

func curl(words []string) (Request, error) {
	r := Request{Method: http.MethodGet, Header: make(http.Header)}
	for i := 0; i < len(words); i++ {
		switch word := words[i]; word {
		case "-N", "-s", "-i": // change what is shown, not what is sent
		case "-H", "-d", "-X":
			i++
			if i == len(words) {
				return r, fmt.Errorf("%s takes a value", word)
			}
			switch value := words[i]; word {
			case "-H":
				name, content, ok := strings.Cut(value, ":")
				if !ok {
					return r, errors.New("a header without a colon")
				}
				r.Header.Add(name, strings.TrimSpace(content))
			case "-d":
				r.Body, r.Method = value, http.MethodPost
				if r.Header.Get("Content-Type") == "" {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded") // as curl does
				}
			default:
				r.Method = value
			}
		default:
			if strings.HasPrefix(word, "-") || r.URL != "" {
				return r, fmt.Errorf("do not know what curl does with %s", word)
			}
			r.URL = word
		}
	}
	if r.URL == "" {
		return r, errors.New("no URL")
	}
	return r, nil
}

// shellWords splits a command as sh does, as far as pages use it: quotes of
// both kinds, variables in double quotes, and lines continued by a backslash.
func shellWords(command string, getenv func(string) string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote byte
	begun := false
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begun = c, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			word.WriteByte(c)
		case c == '\\' && i+1 < len(command):
			i++
			if command[i] != '\n' {
				word.WriteByte(command[i])
			}
		case c == '$':
			end := i + 1
			for end < len(command) && (command[end] == '_' || command[end] >= 'A' && command[end] <= 'Z') {
				end++
			}
			value := getenv(command[i+1 : end])
			if value == "" {
				return nil, fmt.Errorf("the variable %q is not set", command[i+1:end])
			}
			word.WriteString(value)
			begun, i = true, end-1
		case quote == 0 && (c == ' ' || c == '\n' || c == '\t'):
			if begun || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteByte(c)
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote that does not end")
	}
	if begun || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, nil
}
