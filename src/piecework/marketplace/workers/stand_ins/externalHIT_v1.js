// Replaces the script of this name that Amazon hosted. Reimplemented from what pages rely
// on: the names of its functions, their defaults, and what they change.
"use strict";

// The raw (still encoded) value of a parameter of this page's address.
function turkGetParam(name, defaultValue) {
  const given = window.location.search.slice(1).split("&");
  const found = given.find((part) => part.startsWith(`${name}=`));
  return found === undefined ? defaultValue : found.slice(name.length + 1);
}

function decode(strToDecode) {
  return decodeURIComponent(String(strToDecode).replace(/\+/g, " "));
}

// The form's address: the site that frames this page, never a fixed one.
function turkGetSubmitToHost() {
  const host = decode(turkGetParam("turkSubmitTo", ""));
  return /^(https?:)?\/\//.test(host) ? host : "";
}

// Fills in the assignment's id and the form's address. In a preview it disables the button
// and says why.
function turkSetAssignmentID(form_name, button_name) {
  const formName = typeof form_name === "string" ? form_name : "mturk_form";
  const buttonName = typeof button_name === "string" ? button_name : "submitButton";
  const assignmentId = decode(turkGetParam("assignmentId", ""));
  const field = document.getElementById("assignmentId");
  if (field) {
    field.value = assignmentId;
  }
  const button = document.getElementById(buttonName);
  if (button && assignmentId === "ASSIGNMENT_ID_NOT_AVAILABLE") {
    // The marketplace puts the sentences of a page's language before this script.
    const translate = (text) => (window.pieceworkSentences || {})[text] || text;
    const why = translate("You must ACCEPT the HIT before you can submit the results.");
    button.disabled = true;
    button.value = why;
    if (button.tagName === "BUTTON") {
      button.textContent = why;
    }
  }
  const form = document.getElementById(formName);
  if (form) {
    form.action = `${turkGetSubmitToHost()}/mturk/externalSubmit`;
  }
}
