//go:build tools

// Package tools names the commands that are built from this module, so that `go mod tidy` keeps their requirements.
package tools

import (
	_ "github.com/coredns/coredns"
	_ "github.com/rancher/local-path-provisioner"
	_ "helm.sh/helm/v3/cmd/helm"
)
