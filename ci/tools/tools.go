//go:build tools

// What ci/ builds from Go modules: each at the version of go.mod, with the sums of go.sum.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
