// Copyright The Readtrail Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Defaults of Settings.
const (
	DefaultTimeout       = 30 * time.Second
	DefaultUploadTimeout = 10 * time.Minute
	// defaultRegion signs requests to a server that has no regions.
	defaultRegion   = "us-east-1"
	defaultAttempts = 3
)

// Settings say where a bucket is and how it is talked to. Credentials are not
// among them: they come from the default chain of the AWS SDK (environment, shared
// files, web identity, container, instance).
type Settings struct {
	Bucket string
	// Prefix is what the keys of the archive begin with; slashes around it do not
	// count.
	Prefix string
	// Endpoint is the URL of an S3 server other than that of AWS.
	Endpoint string
	// Region is that of the bucket; without it, what the SDK's chain says.
	Region string
	// PathStyle addresses the bucket in the path and not in the host name.
	PathStyle bool
	// Timeout bounds every call but those that move the bytes of a segment, which
	// UploadTimeout bounds. Zero means the default.
	Timeout, UploadTimeout time.Duration
	// Attempts is how often a call is tried, 0 for the default.
	Attempts int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// HTTPClient is for tests; nil is that of the SDK.
	HTTPClient *http.Client
}

// Bucket is a bucket with Object Lock and a prefix in it. It is safe for
// concurrent use.
type Bucket struct {
	client        *s3.Client
	name          string
	prefix        string
	timeout       time.Duration
	uploadTimeout time.Duration
	now           func() time.Time
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// prefixElement is what servers and their access policies agree about.
	prefixElement = regexp.MustCompile(`^[A-Za-z0-9!_'()%-][A-Za-z0-9!_.'()%-]*$`)
)

// maxPrefix leaves room for the rest of a key, which has at most 1024 bytes.
const maxPrefix = 256

// Check says what is wrong with the settings themselves.
func (s *Settings) Check() error {
	var errs []error
	if !bucketName.MatchString(s.Bucket) {
		errs = append(errs, errors.New("bucket is not the name of an S3 bucket: 3 to 63 lower-case letters, digits, dots and hyphens"))
	}
	prefix := strings.Trim(s.Prefix, "/")
	if len(prefix) > maxPrefix {
		errs = append(errs, fmt.Errorf("prefix has %d bytes, more than %d", len(prefix), maxPrefix))
	}
	for element := range strings.SplitSeq(prefix, "/") {
		if prefix != "" && !prefixElement.MatchString(element) {
			errs = append(errs, errors.New("prefix has an element that is empty, begins with a dot, or has other characters than A-Z a-z 0-9 ! - _ . ' ( ) %"))
			break
		}
	}
	if s.Endpoint != "" && !strings.HasPrefix(s.Endpoint, "https://") && !strings.HasPrefix(s.Endpoint, "http://") {
		errs = append(errs, errors.New("endpoint is not a URL that begins with https:// or http://"))
	}
	if s.Timeout < 0 || s.UploadTimeout < 0 || s.Attempts < 0 {
		errs = append(errs, errors.New("timeout, upload timeout and attempts must not be negative"))
	}
	return errors.Join(errs...)
}

// Open makes a bucket from settings. It calls no server; Bucket.Check does.
func Open(ctx context.Context, s Settings) (*Bucket, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	options := []func(*config.LoadOptions) error{
		config.WithDefaultRegion(defaultRegion),
		config.WithRetryMaxAttempts(orDefault(s.Attempts, defaultAttempts)),
	}
	if s.Region != "" {
		options = append(options, config.WithRegion(s.Region))
	}
	if s.HTTPClient != nil {
		options = append(options, config.WithHTTPClient(s.HTTPClient))
	}
	loaded, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("archive: load the configuration of the AWS SDK: %w", err)
	}
	b := &Bucket{
		name: s.Bucket, prefix: strings.Trim(s.Prefix, "/"), now: s.Now,
		timeout: orDefault(s.Timeout, DefaultTimeout), uploadTimeout: orDefault(s.UploadTimeout, DefaultUploadTimeout),
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.client = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = s.PathStyle
		if s.Endpoint != "" {
			o.BaseEndpoint = aws.String(s.Endpoint)
		}
		// Ours is the SHA-256 of the whole object; a second checksum proves nothing
		// more, and the one that the SDK adds is a trailer that not every server takes.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
	})
	return b, nil
}

// String returns the address of the archive, s3://bucket/prefix.
func (b *Bucket) String() string { return b.url(b.prefix) }

func (b *Bucket) url(key string) string {
	return strings.TrimSuffix("s3://"+b.name+"/"+key, "/")
}

// ParseURL reads the address of an archive, s3://bucket/prefix.
func ParseURL(address string) (bucket, prefix string, err error) {
	rest, found := strings.CutPrefix(address, Scheme)
	if !found {
		return "", "", fmt.Errorf("%q is not the address of an archive, %sBUCKET/PREFIX", address, Scheme)
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	s := Settings{Bucket: bucket, Prefix: prefix}
	return bucket, strings.Trim(prefix, "/"), s.Check()
}

// Scheme begins the address of an archive.
const Scheme = "s3://"

func orDefault[T comparable](v, byDefault T) T {
	if v == *new(T) {
		return byDefault
	}
	return v
}
