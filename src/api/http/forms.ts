/** The body types that a browser sends for a foreign page without a preflight request (Fetch standard, 2.2.2). */

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

/** Whether an HTML form can send this content type. */
export function isForm(contentType: string | undefined): boolean {
  const essence = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return formTypes.includes(essence)
}
