// Who asks, and the addresses of the pages.

/** Who is logged in. */
export const me = { user: null, role: null, studies: null, opened: false };

const ROLES = ["viewer", "operator", "engineer", "admin"];

/** Return whether whoever is logged in may do what needs a role. */
export const may = (role) => ROLES.indexOf(me.role) >= ROLES.indexOf(role);

/** Return the address of a page. */
export const link = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

/** Return the pages of a study, each with its address. */
export const studyTabs = (study) => [
  ["Dashboard", link("study", study)],
  ["Operate", link("study", study, "operate")],
  ["Policy", link("study", study, "policy")],
  ["Subjects", link("study", study, "subjects")],
  ["Trail", link("study", study, "trail")],
];

/** What this browser remembers, as JSON; without it where the browser forbids it. */
export const memory = {
  get(name, otherwise) {
    try { return JSON.parse(localStorage.getItem(`proband ${name}`)) ?? otherwise; } catch { return otherwise; }
  },
  set(name, value) {
    try { localStorage.setItem(`proband ${name}`, JSON.stringify(value)); } catch { /* it is forgotten */ }
  },
};
