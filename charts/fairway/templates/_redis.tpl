{{/* What the values say about Redis, checked once for contradictions. Every template that uses Redis comes through here. */}}
{{- define "fairway.checkRedis" -}}
{{- $redis := .Values.redis -}}
{{- $external := $redis.external -}}
{{- if $redis.enabled -}}
  {{- if or $external.url $external.username $external.existingSecret -}}
    {{- fail "redis.external is set while redis.enabled is true: set redis.enabled=false to use your own Redis, or leave redis.external out to run the bundled one" -}}
  {{- end -}}
{{- else -}}
  {{- if not $external.url -}}
    {{- fail "redis.enabled is false, so redis.external.url must say where your Redis is, such as redis://redis.example.com:6379/0" -}}
  {{- end -}}
  {{- if contains "@" $external.url -}}
    {{- fail "redis.external.url has a user or a password in it, which every pod would show: put the user into redis.external.username and the password into redis.auth.password or a Secret named by redis.auth.existingSecret" -}}
  {{- end -}}
  {{- if and $redis.auth.existingSecret $external.existingSecret (ne $redis.auth.existingSecret $external.existingSecret) -}}
    {{- fail "redis.auth.existingSecret and redis.external.existingSecret name two Secrets: keep one" -}}
  {{- end -}}
{{- end -}}
{{- /* Checked here and not by the schema, whose message would print the password. */ -}}
{{- if regexMatch "[\\r\\n]" $redis.auth.password -}}
  {{- fail "redis.auth.password has a line break in it: write it on one line" -}}
{{- end -}}
{{- if and $redis.auth.password (or $redis.auth.existingSecret $external.existingSecret) -}}
  {{- fail "the password is set twice: keep either redis.auth.password or existingSecret" -}}
{{- end -}}
{{- end }}

{{/* The Secret of yours, or nothing. */}}
{{- define "fairway.existingSecret" -}}
{{- .Values.redis.auth.existingSecret | default .Values.redis.external.existingSecret -}}
{{- end }}

{{- define "fairway.redisSecret" -}}
{{- include "fairway.existingSecret" . | default (include "fairway.redisName" .) -}}
{{- end }}

{{- define "fairway.redisURL" -}}
{{- include "fairway.checkRedis" . -}}
{{- if .Values.redis.enabled -}}
redis://{{ include "fairway.redisName" . }}.{{ .Release.Namespace }}.svc:6379/0
{{- else -}}
{{ .Values.redis.external.url }}
{{- end -}}
{{- end }}

{{/*
The password, made up at most once in a render: it is kept in the root context, which all templates of the chart share,
so that every Secret and every checksum is of the same one. Upgrades find it in the Secret of the release namespace.
*/}}
{{- define "fairway.password" -}}
{{- if not (hasKey $ "fairwayPassword") -}}
  {{- $password := .Values.redis.auth.password -}}
  {{- if and (not $password) .Values.redis.enabled (not (include "fairway.existingSecret" .)) -}}
    {{- $kept := lookup "v1" "Secret" .Release.Namespace (include "fairway.redisName" .) -}}
    {{- $password = dig "data" "password" "" ($kept | default dict) | b64dec | default (randAlphaNum 40) -}}
  {{- end -}}
  {{- $_ := set $ "fairwayPassword" $password -}}
{{- end -}}
{{- $.fairwayPassword -}}
{{- end }}

{{/*
Changes when the credentials do, to roll the pods that read them at start. Whoever may see a pod may see this, so it is
made by scrypt (derivePassword), which takes too long to guess many passwords with, and cut short.
*/}}
{{- define "fairway.credentialsChecksum" -}}
{{- if not (hasKey $ "fairwayChecksum") -}}
  {{- $material := include "fairway.password" . -}}
  {{- with include "fairway.existingSecret" . -}}
    {{- $yours := lookup "v1" "Secret" $.Release.Namespace . | default dict -}}
    {{- $material = dig "data" "password" . $yours -}}
  {{- end -}}
  {{- $user := .Values.redis.external.username | default "default" -}}
  {{- $_ := set $ "fairwayChecksum" (derivePassword 1 "long" $material $user "fairway" | sha256sum | trunc 12) -}}
{{- end -}}
{{- $.fairwayChecksum -}}
{{- end }}
