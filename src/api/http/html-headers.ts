/** The headers of a page of HTML with a content security policy. Its ETag is checked at every visit. */
export function htmlHeaders(contentSecurityPolicy: string) {
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-cache',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}
