{{- define "everwarm.name" -}}
{{- if contains "everwarm" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-everwarm" (.Release.Name | trunc 41 | trimSuffix "-") }}{{ end -}}
{{- end -}}

{{- define "everwarm.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "everwarm.name" .) -}}
{{- end -}}

{{/* Every pod of the release. */}}
{{- define "everwarm.pods" -}}
app.kubernetes.io/name: everwarm
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Those of the Deployment: the same in both modes, for a selector cannot be changed. */}}
{{- define "everwarm.selector" -}}
{{ include "everwarm.pods" . }}
app.kubernetes.io/component: watcher
{{- end -}}

{{- define "everwarm.labels" -}}
{{ include "everwarm.pods" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
everwarm.dev/mode: {{ .Values.mode }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The namespaces of the pools, as JSON. */}}
{{- define "everwarm.namespaces" -}}
{{- $given := .Values.namespaces | default (list .Release.Namespace) -}}
{{- dict "names" $given | toJson -}}
{{- end -}}

{{- define "everwarm.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Whose requests write in the pools: the subjects of the loop's Role. */}}
{{- define "everwarm.writers" -}}
{{- if eq .Values.mode "standalone" }}
- kind: ServiceAccount
  name: {{ include "everwarm.serviceAccount" . }}
  namespace: {{ .Release.Namespace }}
{{- else }}
{{- range .Values.forwarder.functions.groups }}
- apiGroup: rbac.authorization.k8s.io
  kind: Group
  name: {{ . | quote }}
{{- end }}
{{- range .Values.forwarder.functions.users }}
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: {{ . | quote }}
{{- end }}
{{- with .Values.forwarder.functions.serviceAccount }}
- kind: ServiceAccount
  name: {{ . }}
  namespace: {{ $.Release.Namespace }}
{{- end }}
{{- if .Values.leave.enabled }}
- kind: ServiceAccount
  name: {{ include "everwarm.name" . }}-leave
  namespace: {{ .Release.Namespace }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Who only looks. */}}
{{- define "everwarm.readers" -}}
{{- range .Values.forwarder.readers.groups }}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: {{ . | quote }}}
{{- end }}
{{- range .Values.forwarder.readers.users }}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: {{ . | quote }}}
{{- end }}
{{- end -}}

{{/* The writers, as a CEL expression. */}}
{{- define "everwarm.isWriter" -}}
{{- $all := list -}}
{{- range (fromYaml (printf "writers:%s" (include "everwarm.writers" .))).writers -}}
{{- if eq .kind "Group" -}}
{{- $all = append $all (printf "%s in request.userInfo.groups" (.name | squote)) -}}
{{- else if eq .kind "User" -}}
{{- $all = append $all (printf "request.userInfo.username == %s" (.name | squote)) -}}
{{- else -}}
{{- $all = append $all (printf "request.userInfo.username == 'system:serviceaccount:%s:%s'" .namespace .name) -}}
{{- end -}}
{{- end -}}
{{- join " || " ($all | default (list "false")) -}}
{{- end -}}

{{- define "everwarm.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
privileged: false
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "everwarm.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10101
runAsGroup: 10101
fsGroup: 10101
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{/* What the kubelet mounts for a ServiceAccount, asked for by name: a token that ends after an hour. */}}
{{- define "everwarm.tokenVolume" -}}
- name: token
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken: {path: token, expirationSeconds: 3600}
      - configMap:
          name: kube-root-ca.crt
          items: [{key: ca.crt, path: ca.crt}]
      - downwardAPI:
          items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]
{{- end -}}
