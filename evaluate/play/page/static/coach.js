export function coachOn() {}
export function openCoach() {}
export function closeCoach() {}
export function showHint() {}
