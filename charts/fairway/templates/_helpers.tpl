{{/* Names. A StatefulSet's name becomes part of a label with a hash of 10 behind it, so a release's name has a bound. */}}
{{- define "fairway.release" -}}
{{- if gt (len .Release.Name) 40 -}}
{{- fail (printf "the release name %q has %d characters: choose one of at most 40, names of pods and labels are made from it" .Release.Name (len .Release.Name)) -}}
{{- end -}}
{{- .Release.Name -}}
{{- end }}

{{- define "fairway.operatorName" -}}{{ include "fairway.release" . }}-operator{{- end }}
{{- define "fairway.redisName" -}}{{ include "fairway.release" . }}-redis{{- end }}
{{- define "fairway.workersName" -}}{{ include "fairway.release" . }}-workers{{- end }}

{{/* Labels: take (list $ "component"). The selecting ones must never change; the others may with every version. */}}
{{- define "fairway.selectorLabels" -}}
{{- $ := index . 0 -}}
app.kubernetes.io/name: fairway
app.kubernetes.io/instance: {{ $.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "fairway.podLabels" -}}
{{ include "fairway.selectorLabels" . }}
app.kubernetes.io/part-of: fairway
{{- end }}

{{- define "fairway.labels" -}}
{{- $ := index . 0 -}}
{{ include "fairway.podLabels" . }}
app.kubernetes.io/version: {{ $.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $.Chart.Name $.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* A tag or revision may look like a number, and --set makes it one: this gives its digits back. */}}
{{- define "fairway.text" -}}
{{- if kindIs "float64" . }}{{ . | int64 }}{{ else }}{{ . }}{{ end -}}
{{- end }}

{{/* Image reference: take (list $ image). */}}
{{- define "fairway.image" -}}
{{- $ := index . 0 -}}
{{- $image := index . 1 -}}
{{- $tag := include "fairway.text" $image.tag -}}
{{ $image.repository }}:{{ $tag | default $.Chart.AppVersion }}
{{- end }}

{{/* Pods as the restricted Pod Security Standard wants them: take the user id. */}}
{{- define "fairway.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ . | int64 }}
runAsGroup: {{ . | int64 }}
fsGroup: {{ . | int64 }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "fairway.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Namespaces that workers may run in, as a JSON list under "list"; a template can only hand back text. */}}
{{- define "fairway.workerNamespaces" -}}
{{- dict "list" (.Values.workers.namespaces | default (list .Release.Namespace) | uniq) | toJson -}}
{{- end }}
