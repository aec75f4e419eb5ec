/** The types of a body that a browser sends for a foreign page without asking first (Fetch standard, 2.2.2). */

const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain']

/** Whether a content type is one that a form has. */
export function isForm(contentType: string | undefined): boolean {
  const essence = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  return formTypes.includes(essence)
}
