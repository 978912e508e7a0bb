package catalog

import (
	"regexp"
	"strings"
)

// Address is the URL that an endpoint's path is appended to, without a slash
// at its end; "" when it is not known. region is the endpoint's.
//
//   - azure: <base_url>/openai/v1, or <base_url>/openai where APIVersion asks
//     for the paths of deployments. A base URL that ends so stays as it is.
//   - vertex: <base_url>/v1/projects/<project>/locations/<location>; the base
//     URL is Google's for the location unless it is set, and stays as it is
//     where no project is named.
//   - bedrock: the base URL, or AWS's for the region.
//   - google: the base URL, with /v1beta where it names no version.
//   - others: the base URL.
func (p *Provider) Address(region string) string {
	base := strings.TrimRight(p.BaseURL, "/")
	switch p.Type {
	case Azure:
		return azureAddress(base, p.APIVersion != "")
	case Vertex:
		return p.vertexAddress(base, region)
	case Bedrock:
		if base == "" {
			return bedrockAddress(p.Region(region))
		}
	case Google:
		if base != "" && !versioned.MatchString(base) {
			return base + "/v1beta"
		}
	default:
	}
	return base
}

// Addressed reports whether Address knows one.
func (p *Provider) Addressed(region string) bool {
	switch {
	case p.BaseURL != "":
		return p.Type != Vertex || p.Project == "" || p.Region(region) != ""
	case p.Type == Vertex:
		return p.Project != "" && p.Region(region) != ""
	case p.Type == Bedrock:
		return p.Region(region) != ""
	}
	return false
}

// Region is the cloud's own name for where an endpoint of vertex or bedrock
// is called, "" when it is not known. On bedrock an endpoint's region may be a
// geography, within which AWS chooses: it is entered through the provider's
// location when that lies in it, else through the geography's first region.
func (p *Provider) Region(region string) string {
	switch {
	case p.Type == Vertex && region != "":
		return region
	case p.Type != Bedrock || region == "":
		return p.Location
	case awsRegion.MatchString(region):
		return region
	case strings.HasPrefix(p.Location, region+"-"):
		return p.Location
	}
	return awsEntries[region]
}

var (
	versioned = regexp.MustCompile(`/v\d+[a-z0-9]*(/|$)`)
	awsRegion = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-\d+$`)
	// awsEntries are the geographies whose inference profiles the catalog has
	// (https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html).
	awsEntries = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}
)

// azureAddress: https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
func azureAddress(base string, deployments bool) string {
	switch {
	case base == "", strings.HasSuffix(base, "/openai"), strings.HasSuffix(base, "/v1"):
		return base
	case deployments:
		return base + "/openai"
	}
	return base + "/openai/v1"
}

// vertexAddress: https://cloud.google.com/vertex-ai/generative-ai/docs/learn/locations
func (p *Provider) vertexAddress(base, region string) string {
	location := p.Region(region)
	switch {
	case p.Project == "":
		return base
	case location == "":
		return ""
	case base != "":
	case location == "global":
		base = "https://aiplatform.googleapis.com"
	case location == "us" || location == "eu":
		base = "https://aiplatform." + location + ".rep.googleapis.com"
	default:
		base = "https://" + location + "-aiplatform.googleapis.com"
	}
	if !versioned.MatchString(base) {
		base += "/v1"
	}
	return base + "/projects/" + p.Project + "/locations/" + location
}

// bedrockAddress: https://docs.aws.amazon.com/general/latest/gr/bedrock.html
func bedrockAddress(region string) string {
	switch {
	case region == "":
		return ""
	case strings.HasPrefix(region, "cn-"):
		return "https://bedrock-runtime." + region + ".amazonaws.com.cn"
	}
	return "https://bedrock-runtime." + region + ".amazonaws.com"
}

// accountAddressed providers have no address of their own: it is that of the
// customer's account, and until it is known no endpoint of theirs is tried.
func accountAddressed(t ProviderType) bool { return t == Azure || t == Bedrock || t == Vertex }

var (
	apiVersion = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}(-preview)?$`)
	project    = regexp.MustCompile(`^[a-z0-9][a-z0-9.:-]{0,62}$`)
)

// ValidProject reports whether text is the id of a Google Cloud project.
func ValidProject(text string) bool { return project.MatchString(text) }

// account checks what an account's address is made of.
func (k *checker) account(path string, p *Provider) {
	if p.APIVersion != "" {
		switch {
		case p.Type != Azure:
			k.addf(path+".api_version", "only providers of type azure have one")
		case !apiVersion.MatchString(p.APIVersion):
			k.addf(path+".api_version", "want a version such as 2024-10-21, with -preview after it where it is one")
		case strings.HasSuffix(p.BaseURL, "/v1"):
			k.addf(path+".api_version", "want none with a base_url that ends in /v1: only the paths of deployments take one")
		}
	}
	if p.Project != "" {
		switch {
		case p.Type != Vertex:
			k.addf(path+".project", "only providers of type vertex have one")
		case !ValidProject(p.Project):
			k.addf(path+".project", "want the id of a Google Cloud project, such as my-project-1")
		}
	}
	if p.Location == "" {
		return
	}
	switch {
	case p.Type != Vertex && p.Type != Bedrock:
		k.addf(path+".location", "only providers of type vertex and bedrock have one")
	case p.Type == Vertex && !ValidSlug(p.Location):
		k.addf(path+".location", "want a location such as europe-west4 or global")
	case p.Type == Bedrock && !awsRegion.MatchString(p.Location):
		k.addf(path+".location", "want an AWS region such as eu-central-1")
	}
	if p.Type == Vertex && p.Project == "" {
		k.addf(path+".project", "is required with location")
	}
}
