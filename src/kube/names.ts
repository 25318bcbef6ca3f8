const SUBDOMAIN_CHARACTERS_MAX = 253;
const LABEL_CHARACTERS_MAX = 63;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Whether `text` is a DNS-1123 label: the form of a namespace's name. */
export function isLabel(text: string): boolean {
  return text.length <= LABEL_CHARACTERS_MAX && LABEL.test(text);
}

/** Whether `text` is a DNS-1123 subdomain: the form of an object's name. Each of its labels may be long. */
export function isSubdomain(text: string): boolean {
  return text.length <= SUBDOMAIN_CHARACTERS_MAX && text.split('.').every((label) => LABEL.test(label));
}
