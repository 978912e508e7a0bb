package surface

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/secret"
)

// credential takes the caller's key from where the SDKs put it: Authorization,
// x-api-key, x-goog-api-key, or the query's key, the first that is there. Two
// different ones are refused, because either could be the one that was meant.
func credential(r *http.Request) (secret.Token, *fault.Error) {
	found, refusal := bearer(r.Header["Authorization"])
	if refusal != nil {
		return secret.Token{}, refusal
	}
	for _, name := range [...]string{"X-Api-Key", "X-Goog-Api-Key"} {
		for _, value := range r.Header[name] {
			if found, refusal = pick(found, value); refusal != nil {
				return secret.Token{}, refusal
			}
		}
	}
	if strings.Contains(r.URL.RawQuery, "key") {
		query, _ := url.ParseQuery(r.URL.RawQuery)
		for _, value := range query["key"] {
			if found, refusal = pick(found, value); refusal != nil {
				return secret.Token{}, refusal
			}
		}
	}
	if found, refusal = pick(found, protocolKey(r.Header[headerProtocol])); refusal != nil {
		return secret.Token{}, refusal
	}
	if found == "" {
		return secret.Token{}, fault.New(fault.Unauthorized,
			"No API key. Send it as \"Authorization: Bearer sb_v1_…\" or in x-api-key.").Because(fault.MissingCredentials)
	}
	token, err := secret.ParseToken(found)
	switch {
	case err != nil:
		return secret.Token{}, fault.Wrap(err, fault.Unauthorized,
			"This is not a Signalbox API key. One begins with sb_v1_.").Because(fault.InvalidKeyFormat)
	case token.Kind == secret.Management:
		return secret.Token{}, fault.New(fault.Unauthorized,
			"This is a management key. Inference calls need an API key (sb_v1_…).").Because(fault.ManagementKeyNotValidHere)
	}
	return token, nil
}

// bearer reads Authorization. Another scheme is not ours and counts as absent.
func bearer(values []string) (found string, refusal *fault.Error) {
	for _, value := range values {
		scheme, rest, _ := strings.Cut(value, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			continue
		}
		if found, refusal = pick(found, strings.TrimSpace(rest)); refusal != nil {
			return "", refusal
		}
	}
	return found, nil
}

func pick(have, next string) (string, *fault.Error) {
	switch {
	case next == "" || next == have:
		return have, nil
	case have == "":
		return next, nil
	}
	return "", fault.New(fault.ValidationError,
		"The request carries two different credentials. Send one.").Because(fault.ConflictingCredentials)
}
