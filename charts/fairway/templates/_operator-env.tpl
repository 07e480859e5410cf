{{/* The operator's settings. It hands those named WORKER on to the worker pods it makes. */}}
{{- define "fairway.operatorEnv" -}}
- name: FAIRWAY_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: FAIRWAY_LOG_LEVEL
  value: {{ .Values.operator.logLevel | quote }}
- name: FAIRWAY_UNKNOWN_GRACE
  value: {{ .Values.operator.unknownGrace | quote }}
- name: FAIRWAY_HEALTH_PORT
  value: "8080"
- name: FAIRWAY_REDIS_URL
  value: {{ include "fairway.redisURL" . | quote }}
- name: FAIRWAY_REDIS_USERNAME
  value: {{ .Values.redis.external.username | quote }}
- name: FAIRWAY_REDIS_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ include "fairway.redisSecret" . }}, key: password}}
- name: FAIRWAY_WORKER_NAMESPACES
  value: {{ (include "fairway.workerNamespaces" . | fromJson).list | join "," | quote }}
- name: FAIRWAY_WORKER_IMAGE
  value: {{ include "fairway.image" (list . .Values.workers.image) | quote }}
- name: FAIRWAY_WORKER_IMAGE_PULL_POLICY
  value: {{ .Values.workers.image.pullPolicy | quote }}
- name: FAIRWAY_WORKER_REDIS_URL
  value: {{ include "fairway.redisURL" . | quote }}
- name: FAIRWAY_WORKER_REDIS_USERNAME
  value: {{ .Values.redis.external.username | quote }}
- name: FAIRWAY_WORKER_REDIS_SECRET
  value: {{ include "fairway.redisSecret" . | quote }}
- name: FAIRWAY_WORKER_ANCHOR
  value: {{ include "fairway.workersName" . | quote }}
# The image's revision and the credentials' checksum: either one's change rolls the workers.
- name: FAIRWAY_WORKER_REVISION
  value: {{ list (include "fairway.text" .Values.workers.image.revision) (include "fairway.credentialsChecksum" .) | compact | join "-" | quote }}
{{- end }}
